internal import Glibc
internal import SDDBase

/// Reads the header lines of one hop: keeps the fields of the latest response, and the values that the transport itself
/// needs. libcurl has already checked each line; anything that libcurl accepts although RFC 9112 forbids it is recorded
/// as a fault.
/// thread: sdd-net
struct HeaderReader {
    enum Stage {
        /// The next line is a status line.
        case before
        case within
        /// The blank line has arrived; the following lines are trailers, or the next response.
        case complete
    }

    private(set) var stage = Stage.before
    private(set) var isPacked = false
    private(set) var isChunked = false
    /// True if there is a Transfer-Encoding, which makes libcurl ignore Content-Length.
    private(set) var hasTransferCoding = false
    /// Number of Set-Cookie lines.
    private(set) var cookieCount = 0
    /// The value of Content-Length; `nil` if there is none. A value that does not fit counts as the largest number.
    private(set) var length: Int64?
    /// The first fault found in a line.
    private(set) var fault: HeaderFault?
    /// Number of Location lines.
    private var locationCount = 0
    /// True if a field that frames the body is not in its plain form.
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

    /// Returns the fields of the latest response; `nil` if there was no memory for them.
    mutating func takeFields() -> ResponseFields? { hasMemory ? fields.take() : nil }

    /// Returns the first fault of a line, or a fault that shows only in all fields together.
    /// - Parameter hasBody: `false` for responses that always end with their header: RFC 9112 §6.3.
    mutating func fault(of fields: ResponseFields, hasBody: Bool) -> HeaderFault? {
        do throws(HeaderRules.Violation) {
            if locationCount > 1 { _ = try HeaderRules.location(fields) }
            guard isOdd, hasBody else { return fault }
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
            // The previous header was that of an interim response, or of an authentication challenge.
            let count = cookieCount
            self = HeaderReader()
            cookieCount = count
            stage = .within
            if !Self.isPlainStatusLine(line) { fault = .statusLine }
        case .complete: return
        case .before:
            stage = .within
            // libcurl treats a status line in lower case as a success, whatever its status.
            if !Self.isStatusLine(line) || !Self.isPlainStatusLine(line) { fault = .statusLine }
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
        // libcurl uses only the first line.
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
        // The length is compared first, because it rules out most names.
        switch name.count {
        case 14 where Self.begins(name, with: "content-length"): readLength(value)
        case 16 where Self.begins(name, with: "content-encoding"): isPacked = true
        case 17 where Self.begins(name, with: "transfer-encoding"): readTransferCoding(value)
        default:
            if name.count == 8 && Self.begins(name, with: "location") { locationCount += 1 }
            if name.count == 10 && Self.begins(name, with: "set-cookie") {
                cookieCount += 1
                setCookieLine = SetCookieLine(value)
            }
            latest = .ordinary
        }
        // RFC 9112 §5.1: a name ends at its colon. libcurl does not recognize a name that is followed by a space.
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

    /// Whether the line begins with "HTTP/" in capital letters: RFC 9112 §2.3.
    private static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        let start: StaticString = "HTTP/"
        return line.count >= 5 && (0..<5).allSatisfy { line[$0] == start.utf8Start[$0] }
    }

    /// Whether the status line has a version, spaces, three digits, and a space or the end of the line (RFC 9112 §4).
    /// libcurl 8 takes more digits than three, and tabs.
    private static func isPlainStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        var rest = line.dropFirst(5).drop { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard rest.first == UInt8(ascii: " ") else { return false }
        rest = rest.drop { $0 == UInt8(ascii: " ") }
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard digits.count == 3 else { return false }
        switch rest.dropFirst(3).first {
        case nil, UInt8(ascii: " "), UInt8(ascii: "\r"), UInt8(ascii: "\n"): return true
        default: return false
        }
    }

    /// Whether the line has a carriage return other than that of its end: RFC 9112 §2.2.
    private static func hasBareReturn(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let start = line.baseAddress, let found = memchr(start, Int32(UInt8(ascii: "\r")), line.count) else {
            return false
        }
        let place = UnsafeRawPointer(found) - start
        return place != line.count - 2 || line[line.count - 1] != UInt8(ascii: "\n")
    }

    /// - Parameter name: In lower case.
    private static func begins(_ line: UnsafeRawBufferPointer, with name: StaticString) -> Bool {
        let length = name.utf8CodeUnitCount
        guard line.count >= length else { return false }
        // A control character may match another character here, but never forms a valid name.
        return (0..<length).allSatisfy { line[$0] | 0x20 == name.utf8Start[$0] }
    }

    /// Returns the text without surrounding white space and line ends.
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

/// Counts the header bytes and lines of a transfer, over all its responses, and checks them against the limits.
struct HeaderBudget {
    private let maxBytes: Int64
    private let maxLines: Int
    private var bytes: Int64 = 0
    private var lines = 0

    init(maxBytes: Int64, maxLines: Int) {
        self.maxBytes = maxBytes
        self.maxLines = maxLines
    }

    /// - Returns: `false` if a limit is exceeded.
    mutating func spend(_ line: UnsafeRawBufferPointer) -> Bool {
        bytes += Int64(line.count)
        if line.count > 2 { lines += 1 }
        return bytes <= maxBytes && lines <= maxLines
    }

    var error: TransportError {
        bytes > maxBytes ? .headerTooLarge(bytes: maxBytes) : .headerTooLarge(lines: maxLines)
    }
}
