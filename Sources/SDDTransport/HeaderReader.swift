internal import Glibc
internal import SDDBase

/// Reads the header lines of one hop: keeps the fields of the latest response, and what the transport itself has
/// to know of them. libcurl has judged the lines; it shows them once more, one by one.
/// thread: sdd-net
struct HeaderReader {
    enum Stage {
        /// A status line is next.
        case before
        case within
        /// The blank line has come; what follows are trailers, or the next response.
        case complete
    }

    private(set) var stage = Stage.before
    private(set) var isPacked = false
    private(set) var isChunked = false
    private(set) var setsCookies = false
    /// What Content-Length says; nil when there is none. More digits than fit count as the largest number.
    private(set) var length: Int64?
    private var fields = ResponseFieldsBuilder()
    private var hasMemory = true

    init() {}

    /// - Returns: nil when there is no memory for them.
    mutating func takeFields() -> ResponseFields? { hasMemory ? fields.take() : nil }

    mutating func read(_ line: UnsafeRawBufferPointer) {
        guard let first = line.first else { return }
        switch stage {
        case .complete where Self.begins(line, with: "http/"):
            // An interim response has gone before, or one that asked for a password.
            let setCookies = setsCookies
            self = HeaderReader()
            setsCookies = setCookies
            stage = .within
        case .complete: break
        case .before: stage = .within
        case .within:
            switch first {
            case UInt8(ascii: "\r"), UInt8(ascii: "\n"): stage = .complete
            case UInt8(ascii: " "), UInt8(ascii: "\t"): goOn(Self.trimmed(line))
            default: readField(line)
            }
        }
    }

    private mutating func goOn(_ text: UnsafeRawBufferPointer) {
        hasMemory = fields.extendValue(text) && hasMemory
    }

    private mutating func readField(_ line: UnsafeRawBufferPointer) {
        guard let start = line.baseAddress, let colon = memchr(start, Int32(UInt8(ascii: ":")), line.count) else {
            return
        }
        let before = UnsafeRawPointer(colon) - start
        let name = Self.trimmed(UnsafeRawBufferPointer(start: start, count: before))
        let value = Self.trimmed(UnsafeRawBufferPointer(start: colon + 1, count: line.count - before - 1))
        hasMemory = fields.append(name: name, value: value) && hasMemory
        // By the length first: most names end here.
        switch name.count {
        case 10 where Self.begins(name, with: "set-cookie"): setsCookies = true
        case 14 where Self.begins(name, with: "content-length"): length = Self.number(value) ?? length
        case 16 where Self.begins(name, with: "content-encoding"): isPacked = true
        case 17 where Self.begins(name, with: "transfer-encoding"): isChunked = true
        default: break
        }
    }

    /// - Parameter name: in lower case.
    private static func begins(_ line: UnsafeRawBufferPointer, with name: StaticString) -> Bool {
        let length = name.utf8CodeUnitCount
        guard line.count >= length else { return false }
        // A control character may pass for another here, but never makes a name.
        return (0..<length).allSatisfy { line[$0] | 0x20 == name.utf8Start[$0] }
    }

    /// Without white space and line ends around it.
    private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard let base = text.baseAddress else { return text }
        var (start, end) = (0, text.count)
        while start < end, isSpace(text[start]) { start += 1 }
        while end > start, isSpace(text[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(start: base + start, count: end - start)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (UInt8(ascii: "\t")...UInt8(ascii: "\r")).contains(byte)
    }

    private static func number(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard !text.isEmpty else { return nil }
        var number: Int64 = 0
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeNow) = tens.addingReportingOverflow(Int64(byte & 15))
            if isTooLarge || isTooLargeNow { return .max }
            number = sum
        }
        return number
    }
}

/// What the headers of a transfer come to, all its responses together, and whether that is too much. A value.
struct HeaderBudget {
    private let maxBytes: Int64
    private let maxLines: Int
    private var bytes: Int64 = 0
    private var lines = 0

    init(_ configuration: TransportConfiguration) {
        maxBytes = configuration.maxHeaderBytes
        maxLines = configuration.maxHeaderCount
    }

    /// - Returns: false when it is too much.
    mutating func spend(_ line: UnsafeRawBufferPointer) -> Bool {
        bytes += Int64(line.count)
        if line.count > 2 { lines += 1 }
        return bytes <= maxBytes && lines <= maxLines
    }

    var error: TransportError {
        bytes > maxBytes ? .headerTooLarge(bytes: maxBytes) : .headerTooLarge(lines: maxLines)
    }
}
