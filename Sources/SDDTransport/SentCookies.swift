internal import SDDBase

/// Watches what is really sent with a request whose answer may be stored: cookies come into the jar, and leave it,
/// between the moment a request is made and the moment it goes out, and a redirect may lead to a host that has others.
/// A value, owned by a transfer.
/// thread: sdd-net
struct SentCookies {
    /// "name=value" of those that the caller is known by.
    private let known: Set<String>
    /// Of a request's head that is not complete.
    private var pending: [UInt8] = []
    private var hasSeenHead = false
    private var hasUnknown = false

    /// More than any head that a server takes.
    private static let longestHead = 1 << 20

    /// - Returns: nil for a request without a jar, or one whose answer nobody stores.
    init?(_ request: HTTPRequest) {
        guard request.options.values.usesCookies, let cookies = request.cookies else { return nil }
        let fields = request.headers.fields.filter { HTTPFields.isSameName($0.name, "Cookie") }
        let own = fields.flatMap { Self.pieces(of: Array($0.value.utf8)[...]) }
        known = Set(cookies.map { Self.trimmed(Array($0.utf8)[...]) } + own)
    }

    /// All cookies that were sent are known. False where nobody has told what was sent.
    var areKnown: Bool { hasSeenHead && !hasUnknown && pending.isEmpty }

    /// A piece of a request's head, or several heads, in their order.
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

    private static func pieces(of value: ArraySlice<UInt8>) -> [String] {
        value.split(separator: UInt8(ascii: ";")).map(trimmed).filter { !$0.isEmpty }
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> String {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == 0x0D }
        let start = text.drop(while: isSpace)
        return String(decoding: start.reversed().drop(while: isSpace).reversed(), as: UTF8.self)
    }
}
