import SDDBase
package import SDDTransport

/// The log for applications without a listener: lines on standard error, up to the level named by SDD_LOG in the
/// environment. The environment is read only once. Thread-safe; called with no lock held.
package enum StandardErrorLog {
    /// The level, read when the first downloader is made.
    package static let level: LogLevel = {
        guard let value = environmentVariable("SDD_LOG"), !value.isEmpty else { return .none }
        StandardError.note()
        let (level, complaint) = reading(value)
        if let complaint { put(complaint) }
        return level
    }()

    /// Parses a value of SDD_LOG; returns the level, and a complaint about an invalid value.
    static func reading(_ value: String) -> (level: LogLevel, complaint: String?) {
        if let index = names.firstIndex(of: value) { return (LogLevel(rawValue: Int32(index + 1)) ?? .none, nil) }
        return (.none, "SDD_LOG: \"\(value.prefix(40))\" is none of \(names.joined(separator: ", ")).")
    }

    private static let names = ["error", "warning", "info", "debug"]

    package static func write(_ level: LogLevel, _ text: String) {
        guard level != .none, level <= self.level else { return }
        put("\(names[Int(level.rawValue) - 1]): \(text)")
    }

    /// Writes a notice of the kind `.log`.
    static func write(_ notice: Notice) {
        guard notice.level <= level else { return }
        write(notice.level, text(of: notice))
    }

    static func text(of notice: Notice) -> String {
        let message = notice.message ?? ""
        return if let url = notice.url { "\(shown(url)): \(message)" } else { message }
    }

    /// Removes the query, which may be secret. The notice's URL has no user and password.
    private static func shown(_ url: String) -> String {
        if url.hasPrefix("data:") { return "data:" }
        return String(decoding: url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }, as: UTF8.self)
    }

    private static func put(_ text: String) { StandardError.write(line(text, process: processNumber())) }

    /// Makes a line that fits in one atomic write to a pipe and has no control characters for a terminal.
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
