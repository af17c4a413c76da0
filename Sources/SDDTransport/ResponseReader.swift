internal import CCurl
internal import SDDBase

/// Collects one final response from libcurl's callbacks, and stops it at the limit. What it says of itself is
/// asked of the handle, where libcurl has parsed it.
/// thread: sdd-net
struct ResponseReader: ~Copyable {
    private let easy: EasyHandle
    private let limit: Int64
    private let isFile: Bool
    private var body = ByteBuilder()
    /// The blank line after the last header has come.
    private var isHeaderComplete = false
    /// Whether the header speaks of a packed body.
    private var isPacked = false
    private var packedEnd: PackedEnd?

    /// nil until the body begins.
    private(set) var head: ResponseHead?
    /// Why no more is taken.
    private(set) var refusal: TransportError?
    /// libcurl was told to show the body before unpacking, too.
    private(set) var hasTapped = false

    init(_ easy: EasyHandle, limit: Int64, isFile: Bool) {
        self.easy = easy
        self.limit = limit
        self.isFile = isFile
    }

    var count: Int { body.count }

    mutating func takeBody() -> Bytes { body.take() }

    /// What libcurl 7.88 takes for success and is none. After the end.
    func flaw(at host: String) -> TransportError? {
        if isFile { return nil }
        // A connection that ends within the header passes for the end of an empty body.
        guard isHeaderComplete, status / 100 != 1 else { return .cutHeader(host: host) }
        if isPacked, let packedEnd, isGzip, !packedEnd.isEnd(ofUnpacked: body.count) { return .cutPacking(host: host) }
        return nil
    }

    private var status: Int32 { Int32(clamping: easy.number(CURLINFO_RESPONSE_CODE)) }
}

// MARK: - Header

extension ResponseReader {
    /// A line of a header, of each response on the way to the final one.
    mutating func receivedHeader(_ line: UnsafeRawBufferPointer) {
        guard let first = line.first else { return }
        if first == UInt8(ascii: "\r") || first == UInt8(ascii: "\n") {
            isHeaderComplete = true
        } else if Self.begins(line, with: "http/") {
            // The next response, after a redirect or an interim one.
            isHeaderComplete = false
            isPacked = false
            packedEnd = nil
        } else if Self.begins(line, with: "content-encoding:") {
            isPacked = true
            tap()
        }
    }

    /// From here on libcurl gives its debug callback what comes, before unpacking it; nothing else tells. Not
    /// for all transfers, since it also makes libcurl write down all that it does.
    private mutating func tap() {
        guard !hasTapped else { return }
        hasTapped = true
        try? easy.set(CURLOPT_VERBOSE, true)
    }

    /// - Parameter name: in lower case.
    private static func begins(_ line: UnsafeRawBufferPointer, with name: StaticString) -> Bool {
        let length = name.utf8CodeUnitCount
        guard line.count >= length else { return false }
        // A control character may pass for another here, but never makes a name.
        return (0..<length).allSatisfy { line[$0] | 0x20 == name.utf8Start[$0] }
    }

    /// The coding of the body; "" for none. One layer at most: more are of no use but to hide a bomb.
    private var coding: String? {
        let fields = easy.responseFields("Content-Encoding").flatMap { $0.split(separator: ",") }
        let codings = fields.map { $0.filter { !$0.isWhitespace }.lowercased() }.filter { $0 != "identity" && $0 != "" }
        return codings.count > 1 ? nil : codings.first ?? ""
    }

    private var isGzip: Bool { coding == "gzip" || coding == "x-gzip" }
}

// MARK: - Body

extension ResponseReader {
    /// As it came, framing and packing included; only after `tap`.
    mutating func receivedRaw(_ bytes: UnsafeRawBufferPointer) {
        guard isPacked else { return }
        if packedEnd == nil {
            packedEnd = PackedEnd(
                isChunked: !easy.responseFields("Transfer-Encoding").isEmpty,
                length: easy.large(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T))
        }
        packedEnd?.append(bytes)
    }

    /// Unpacked.
    /// - Returns: false to make libcurl end the transfer.
    mutating func received(_ bytes: UnsafeRawPointer, count: Int) -> Bool {
        guard refusal == nil else { return false }
        if head == nil && !beginBody() { return false }
        let (total, overflow) = body.count.addingReportingOverflow(count)
        // Counted here, after unpacking: libcurl's own limit looks at the announced length alone.
        guard !overflow, Int64(total) <= limit else {
            refusal = .bodyTooLarge(limit: limit)
            return false
        }
        guard body.append(bytes, count: count) else {
            refusal = .noMemoryForBody
            return false
        }
        return true
    }

    private mutating func beginBody() -> Bool {
        let expected = announcedLength
        head = ResponseHead(status: status, expectedBytes: expected)
        if isPacked && coding == nil {
            refusal = .packedTwice
            return false
        }
        guard expected > 0 else { return true }
        guard expected <= limit else {
            refusal = .bodyTooLarge(limit: limit)
            return false
        }
        // All at once, so that nothing is ever copied. A server that announces much and sends little costs
        // only addresses: the kernel gives the memory when it is written to.
        guard let length = Int(exactly: expected), body.reserve(length) else {
            refusal = .noMemoryForBody
            return false
        }
        return true
    }

    /// Length of the body as it will be handed out; -1 when packed or unknown.
    private var announcedLength: Int64 {
        let length = easy.large(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        guard length >= 0, !isFile else { return max(length, -1) }
        if isPacked && coding != "" { return -1 }
        return easy.responseFields("Transfer-Encoding").isEmpty ? length : -1
    }
}
