internal import SDDBase

/// Checks the cookies that are really sent with a request whose response may be stored. The jar may change between the
/// creation of a request and its sending, and a redirect may lead to a host with other cookies. Owned by a transfer.
/// thread: sdd-net
struct SentCookies {
    /// The cookies that identify the caller, as "name=value".
    private let known: Set<[UInt8]>
    /// The received bytes of a request head that is not complete.
    private var pending: [UInt8] = []
    private var hasSeenHead = false
    private var hasUnknown = false

    /// Limit on a request head, larger than any head that a server accepts.
    private static let longestHead = 1 << 20

    /// - Returns: `nil` for a request without a jar, and for one whose response is not stored.
    init?(_ request: HTTPRequest) {
        guard request.options.values.usesCookies, let cookies = request.cookies else { return nil }
        let fields = request.headers.fields.filter { HTTPFields.isSameName($0.name, "Cookie") }
        let own = fields.flatMap { Self.pieces(of: Array($0.value.utf8)[...]) }
        known = Set(cookies.map { Self.trimmed(LosslessText.bytes(of: $0)[...]) } + own)
    }

    /// True if all cookies that were sent are known. False if libcurl has not reported what was sent.
    var areKnown: Bool { hasSeenHead && !hasUnknown && pending.isEmpty }

    /// Receives a piece of a request head, or several heads, in order.
    mutating func sent(_ bytes: UnsafeRawBufferPointer) {
        guard !hasUnknown else { return }
        pending += bytes
        guard pending.count <= Self.longestHead else {
            pending = []
            hasUnknown = true
            return
        }
        guard pending.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return }
        hasSeenHead = true
        for line in pending.split(separator: UInt8(ascii: "\n")) { look(at: line) }
        pending = []
    }

    private mutating func look(at line: ArraySlice<UInt8>) {
        let name = "cookie:".utf8
        guard line.count > name.count, zip(line, name).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else { return }
        if !Self.pieces(of: line.dropFirst(name.count)).allSatisfy(known.contains) { hasUnknown = true }
    }

    private static func pieces(of value: ArraySlice<UInt8>) -> [[UInt8]] {
        value.split(separator: UInt8(ascii: ";")).map(trimmed).filter { !$0.isEmpty }
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == 0x0D }
        let start = text.drop(while: isSpace)
        return start.reversed().drop(while: isSpace).reversed()
    }
}
