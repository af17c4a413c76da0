import SDDTransport
import Testing

@testable import SDDEngine

/// The values of SDD_LOG, and the format of a line.
struct StandardErrorLogTests {
    @Test func fourNamesAreLevels() {
        #expect(StandardErrorLog.reading("error").level == .error)
        #expect(StandardErrorLog.reading("warning").level == .warning)
        #expect(StandardErrorLog.reading("info").level == .info)
        #expect(StandardErrorLog.reading("debug").level == .debug)
        #expect(StandardErrorLog.reading("debug").complaint == nil)
    }

    @Test(arguments: ["DEBUG", "1", "none", "debug ", "verbose"])
    func anyOtherNameIsReported(_ value: String) {
        let (level, complaint) = StandardErrorLog.reading(value)
        #expect(level == .none)
        #expect(complaint == "SDD_LOG: \"\(value)\" is none of error, warning, info, debug.")
    }

    @Test func aLineHasNoLineBreaksAndFitsAPipe() {
        let line = StandardErrorLog.line("a\nb\u{1b}[2Jc", process: 7)
        #expect(String(decoding: line, as: UTF8.self) == "libsdd[7]: a?b?[2Jc\n")
        let long = StandardErrorLog.line(String(repeating: "x", count: 10_000), process: 7)
        #expect(long.count == 4096 && long.last == 10)
    }

    @Test func aQueryIsNotShown() {
        let url = "https://example.org/a.png?token=secret#part"
        let notice = Notice(.log, transfer: 1, token: 2, url: url, time: 0, level: .info, message: "Failed.")
        #expect(StandardErrorLog.text(of: notice) == "https://example.org/a.png: Failed.")
    }
}
