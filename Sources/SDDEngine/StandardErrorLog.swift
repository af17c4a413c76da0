import SDDBase
package import SDDTransport

/// The log for who has none of their own: lines on standard error, up to the level that SDD_LOG in the environment names.
/// Nothing is read of the environment but once. Any thread, with no lock held.
package enum StandardErrorLog {
    /// Read with the first downloader.
    package static let level: LogLevel = {
        guard let value = environmentVariable("SDD_LOG"), !value.isEmpty else { return .none }
        let (level, complaint) = reading(value)
        if let complaint { put(complaint) }
        return level
    }()

    /// What a value of SDD_LOG means, and what is to be said of it.
    static func reading(_ value: String) -> (level: LogLevel, complaint: String?) {
        if let index = names.firstIndex(of: value) { return (LogLevel(rawValue: Int32(index + 1)) ?? .none, nil) }
        return (.none, "SDD_LOG: \"\(value.prefix(40))\" is none of \(names.joined(separator: ", ")).")
    }

    private static let names = ["error", "warning", "info", "debug"]

    package static func write(_ level: LogLevel, _ text: String) {
        guard level != .none, level <= self.level else { return }
        put("\(names[Int(level.rawValue) - 1]): \(text)")
    }

    /// A notice of the kind `.log`.
    static func write(_ notice: Notice) {
        guard notice.level <= level else { return }
        write(notice.level, text(of: notice))
    }

    static func text(of notice: Notice) -> String {
        let message = notice.message ?? ""
        return if let url = notice.url { "\(shown(url)): \(message)" } else { message }
    }

    /// Without what may be secret: a query. The notice's URL has no user and password.
    private static func shown(_ url: String) -> String {
        if url.hasPrefix("data:") { return "data:" }
        return String(decoding: url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }, as: UTF8.self)
    }

    private static func put(_ text: String) { writeToStandardError(line(text, process: processNumber())) }

    /// As much as a pipe takes in one piece, and nothing that moves the cursor of a terminal.
    static func line(_ text: String, process: Int32) -> [UInt8] {
        var bytes = Array("libsdd[\(process)]: ".utf8)
        for byte in text.utf8 {
            if bytes.count == longest - 1 { break }
            bytes.append(byte < 0x20 || byte == 0x7f ? UInt8(ascii: "?") : byte)
        }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// PIPE_BUF.
    private static let longest = 4096
}
