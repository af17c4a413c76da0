internal import Glibc
internal import SDDBase

/// Reads the header lines of one hop: keeps the fields of the latest response, and what the transport itself has
/// to know of them. libcurl has judged each line before it shows it here; what it lets pass and RFC 9112 does not is
/// noted as a fault.
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
    /// libcurl then takes no notice of Content-Length.
    private(set) var hasTransferCoding = false
    /// Lines of Set-Cookie.
    private(set) var cookieCount = 0
    /// What Content-Length says; nil when there is none. More digits than fit count as the largest number.
    private(set) var length: Int64?
    /// The first that a line has shown.
    private(set) var fault: HeaderFault?
    /// A field that the transport goes by is not in its plain form.
    private var isOdd = false
    private var latest = Field.none
    private var fields = ResponseFieldsBuilder()
    private var hasMemory = true
    private var setCookieLine: SetCookieLine?

    private enum Field { case none, ordinary, framing }

    init() {}

    mutating func takeSetCookieLine() -> SetCookieLine? {
        defer { setCookieLine = nil }
        return setCookieLine
    }

    /// - Returns: nil when there is no memory for them.
    mutating func takeFields() -> ResponseFields? { hasMemory ? fields.take() : nil }

    /// Whether the fields, once taken, break a rule that depends on all of them.
    /// - Parameter hasBody: false for responses that end with their header whatever it says, RFC 9112 §6.3.
    mutating func fault(of fields: ResponseFields, hasBody: Bool) -> HeaderFault? {
        guard isOdd, hasBody else { return fault }
        do throws(HeaderRules.Violation) {
            length = try HeaderRules.length(fields)
            isChunked = try HeaderRules.isChunked(fields)
            return fault
        } catch {
            return fault ?? error.fault
        }
    }

    mutating func read(_ line: UnsafeRawBufferPointer) {
        guard let first = line.first else { return }
        switch stage {
        case .complete where Self.isStatusLine(line):
            // An interim response has gone before, or one that asked for a password.
            let count = cookieCount
            self = HeaderReader()
            cookieCount = count
            stage = .within
        case .complete: return
        case .before:
            stage = .within
            // libcurl takes one in small letters for a success, whatever it says.
            if !Self.isStatusLine(line) { fault = .statusLine }
        case .within:
            switch first {
            case UInt8(ascii: "\r"), UInt8(ascii: "\n"): stage = .complete
            case UInt8(ascii: " "), UInt8(ascii: "\t"): goOn(Self.trimmed(line))
            default: readField(line)
            }
        }
        if Self.hasBareReturn(line) { fault = fault ?? .bareReturn }
    }

    private mutating func goOn(_ text: UnsafeRawBufferPointer) {
        switch latest {
        case .none: fault = fault ?? .foldBeforeField
        // libcurl goes by the first line alone.
        case .framing: fault = fault ?? .oddFraming
        case .ordinary: break
        }
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
        latest = .framing
        // By the length first: most names end here.
        switch name.count {
        case 14 where Self.begins(name, with: "content-length"): readLength(value)
        case 16 where Self.begins(name, with: "content-encoding"): isPacked = true
        case 17 where Self.begins(name, with: "transfer-encoding"): readTransferCoding(value)
        default:
            if name.count == 10 && Self.begins(name, with: "set-cookie") {
                cookieCount += 1
                setCookieLine = SetCookieLine(value)
            }
            latest = .ordinary
        }
        // RFC 9112 §5.1: a name ends at its colon. libcurl does not know one with a space behind it.
        if latest == .framing && name.count != before { fault = fault ?? .oddFraming }
    }

    private mutating func readLength(_ value: UnsafeRawBufferPointer) {
        let number = Self.number(value)
        if length != nil || number == nil { isOdd = true }
        length = number ?? length
    }

    private mutating func readTransferCoding(_ value: UnsafeRawBufferPointer) {
        if hasTransferCoding || value.count != 7 || !Self.begins(value, with: "chunked") { isOdd = true }
        hasTransferCoding = true
        isChunked = true
    }

    /// RFC 9112 §2.3: in capital letters.
    private static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        let start: StaticString = "HTTP/"
        return line.count >= 5 && (0..<5).allSatisfy { line[$0] == start.utf8Start[$0] }
    }

    /// RFC 9112 §2.2: a carriage return other than that of the line's end.
    private static func hasBareReturn(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let start = line.baseAddress, let found = memchr(start, Int32(UInt8(ascii: "\r")), line.count) else {
            return false
        }
        let place = UnsafeRawPointer(found) - start
        return place != line.count - 2 || line[line.count - 1] != UInt8(ascii: "\n")
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
