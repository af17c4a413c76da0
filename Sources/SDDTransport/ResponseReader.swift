internal import CCurl
internal import SDDBase

/// Collects the response of one hop from libcurl's callbacks, and stops it at the limits.
/// thread: sdd-net
struct ResponseReader {
    /// What of the request its response depends on.
    struct Terms {
        var url = ""
        var isFile = false
        /// Where the body goes; nil: to memory.
        var sink: BodySink?
        /// A length may be announced, and no body comes.
        var isHEAD = false
        /// There is a password to answer a 401 with: then libcurl may ask once more.
        var canAnswerChallenge = false
        /// The rest of a body is asked for.
        var resume: ResumePoint?
    }

    private let easy: EasyHandle
    private let limit: Int64
    private let terms: Terms
    private let time: any TimeSource
    /// Of the wall clock.
    private let begun: Int64
    private var header = HeaderReader()
    private let body = ByteBuilder()
    /// What went to the sink.
    private var sunkBytes = 0
    private var droppedBytes = 0
    private var hasBody = false
    private var packedEnd: PackedEnd?

    /// nil until the header of a response that is no interim one is complete.
    private(set) var head: ResponseHead?
    /// Where the response leads to, if it is a redirect: then its body is nobody's.
    private(set) var location: String?
    /// The rest does not come: the whole is to be asked for, and this response is nobody's either.
    private(set) var startsOver = false
    /// Of the whole body, once its part has been joined with the rest that comes.
    private var joinedTotal: Int64?
    /// Why no more is taken.
    private(set) var refusal: TransportError?
    /// libcurl was told to show the body before unpacking, too.
    private(set) var hasTapped = false

    init(_ easy: EasyHandle, limit: Int64, terms: Terms, time: any TimeSource) {
        self.easy = easy
        self.limit = limit
        self.terms = terms
        self.time = time
        begun = time.wallMicroseconds()
    }

    /// Of the body as it is handed out, also where it is not kept.
    var count: Int { body.count + sunkBytes }
    var setsCookies: Bool { header.setsCookies }

    /// Another hop follows this one.
    var isPassedOver: Bool { location != nil || startsOver }

    /// What of the body did not come, for it was there.
    var resumedBytes: Int64 { joinedTotal == nil ? 0 : terms.resume?.count ?? 0 }

    /// The head, once it is sure that it is the final one.
    var finalHead: ResponseHead? { isPassedOver || isChallenge && !hasBody ? nil : head }

    mutating func takeBody() -> Bytes { body.take() }

    var bodySoFar: Bytes { body.soFar() }

    mutating func refuse(_ error: TransportError) { refusal = refusal ?? error }

    /// What libcurl 7.88 takes for success and is none. After the end.
    func flaw(at host: @autoclosure () -> String) -> TransportError? {
        if terms.isFile { return nil }
        // A connection that ends within the header passes for the end of an empty body.
        guard head != nil, header.stage == .complete else { return .cutHeader(host: host()) }
        if let packedEnd, isGzip, !packedEnd.isEnd(ofUnpacked: count) { return .cutPacking(host: host()) }
        if let joinedTotal, Int64(count) < joinedTotal { return .cutRest(host: host()) }
        return nil
    }

    private var isChallenge: Bool { head?.response.status == 401 && terms.canAnswerChallenge }
}

// MARK: - Header

extension ResponseReader {
    /// A line of a header, of each response on the way to the final one.
    /// - Returns: false to make libcurl end the transfer.
    mutating func receivedHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        guard !terms.isFile else { return true }
        let wasComplete = header.stage == .complete
        header.read(line)
        if wasComplete && header.stage != .complete {
            head = nil
            packedEnd = nil
        }
        return wasComplete || header.stage != .complete || endHeader()
    }

    private mutating func endHeader() -> Bool {
        let status = Int32(clamping: easy.number(CURLINFO_RESPONSE_CODE))
        // Another one follows an interim response.
        guard status / 100 != 1 else { return true }
        guard let fields = header.takeFields() else { return refused(.noMemoryForHeader) }
        let response = Response(
            status: status, httpVersion: easy.httpVersion, url: terms.url, fields: fields)
        switch judge(response) {
        case .joins(let total): return join(response, total: total)
        case .startsOver:
            startsOver = true
            return isWorthReading
        case .standsAlone: break
        }
        head = newHead(response, expectedBytes: expectedBytes(status))
        if Redirects.isRedirect(status), let location = fields["Location"], !location.isEmpty {
            self.location = location
            return isWorthReading
        }
        if header.isPacked { tap() }
        // libcurl drops the body of a challenge that it answers.
        return isChallenge || check()
    }

    private func newHead(_ response: Response, expectedBytes: Int64) -> ResponseHead {
        ResponseHead(
            response: response, expectedBytes: expectedBytes, requestTime: begun,
            responseTime: time.wallMicroseconds())
    }

    /// Of a response that is passed over.
    private var isWorthReading: Bool { (header.length ?? 0) <= Int64(Self.mostDroppedBytes) }

    /// Length of the body as it will be handed out; -1 when packed or unknown.
    private func expectedBytes(_ status: Int32) -> Int64 {
        if terms.isHEAD || status == 204 || status == 304 { return 0 }
        guard let length = header.length, !header.isChunked, !header.isPacked || coding == "" else { return -1 }
        return length
    }

    /// Before a body is taken.
    private mutating func check() -> Bool {
        guard let expected = head?.expectedBytes, expected != 0 else { return true }
        if header.isPacked && coding == nil { return refused(.unknownCoding) }
        return expected <= limit || refused(.bodyTooLarge(limit: limit))
    }

    private mutating func refused(_ error: TransportError) -> Bool {
        refuse(error)
        return false
    }

    /// From here on libcurl gives its debug callback what comes, before unpacking it; nothing else tells. Not
    /// for all transfers, since it also makes libcurl write down all that it does.
    private mutating func tap() {
        guard !hasTapped else { return }
        hasTapped = true
        try? easy.set(CURLOPT_VERBOSE, true)
    }

    /// The coding of the body, "" for none; nil for one that was not asked for, since libcurl would unpack it
    /// without a check of its end, and for more than one layer: more are of no use but to hide a bomb.
    private var coding: String? {
        let fields = easy.responseFields("Content-Encoding").flatMap { $0.split(separator: ",") }
        let codings = fields.map { $0.filter { !$0.isWhitespace }.lowercased() }.filter { $0 != "identity" && $0 != "" }
        guard codings.count <= 1 else { return nil }
        switch codings.first {
        case nil: return ""
        case "gzip", "x-gzip": return "gzip"
        default: return nil
        }
    }

    private var isGzip: Bool { coding == "gzip" }
}

// MARK: - Resuming

extension ResponseReader {
    private func judge(_ response: Response) -> RangeJoin.Verdict {
        // Trailers can look like another header: no part goes into a body that has begun.
        guard let resume = terms.resume, !hasBody else { return .standsAlone }
        // The rest of something else, behind a redirect that leads elsewhere now.
        if response.status == 206, let url = resume.url, url != response.url { return .startsOver }
        let length = header.isChunked ? nil : header.length
        return RangeJoin(resume).judge(status: response.status, response.fields, length: length)
    }

    /// From here on all is as if the whole body came, and the part of it had come.
    private mutating func join(_ response: Response, total: Int64) -> Bool {
        guard let resume = terms.resume, let whole = RangeJoin(resume).joined(response, total: total) else {
            return refused(.noMemoryForHeader)
        }
        joinedTotal = total
        var head = newHead(whole, expectedBytes: total)
        head.resumedBytes = resume.count
        self.head = head
        guard let part = resume.bytes.pointer.baseAddress else { return true }
        return received(part, count: resume.bytes.count)
    }
}

// MARK: - Body

extension ResponseReader {
    /// What of a redirect's body is read, so that its connection can be used again. More, and a new one is cheaper.
    private static let mostDroppedBytes = 64 << 10

    /// As it came, framing and packing included; only after `tap`.
    mutating func receivedRaw(_ bytes: UnsafeRawBufferPointer) {
        guard header.isPacked, head != nil else { return }
        if packedEnd == nil { packedEnd = PackedEnd(isChunked: header.isChunked, length: header.length ?? -1) }
        packedEnd?.append(bytes)
    }

    /// Unpacked.
    /// - Returns: false to make libcurl end the transfer.
    mutating func received(_ bytes: UnsafeRawPointer, count: Int) -> Bool {
        guard refusal == nil else { return false }
        if isPassedOver {
            droppedBytes += count
            return droppedBytes <= Self.mostDroppedBytes
        }
        if !hasBody && !beginBody() { return false }
        let (total, overflow) = self.count.addingReportingOverflow(count)
        // Counted here, after unpacking: libcurl's own limit looks at the announced length alone.
        guard !overflow, Int64(total) <= limit else { return refused(.bodyTooLarge(limit: limit)) }
        if let joinedTotal, Int64(total) > joinedTotal { return refused(.tooLongRest(of: joinedTotal)) }
        if let sink = terms.sink { return write(bytes, count: count, to: sink) }
        return body.append(bytes, count: count) || refused(.noMemoryForBody)
    }

    private mutating func write(_ bytes: UnsafeRawPointer, count: Int, to sink: BodySink) -> Bool {
        sunkBytes += count
        guard let head, sink.takes(head.response) else { return true }
        let code = sink.write(bytes, count: count)
        return code == 0 || refused(.sinkNotWritable(systemError: code))
    }

    private mutating func beginBody() -> Bool {
        hasBody = true
        if terms.isFile { head = fileHead }
        guard check() else { return false }
        guard let expected = head?.expectedBytes, expected > 0, terms.sink == nil else { return true }
        // All at once, so that nothing is ever copied. A server that announces much and sends little costs
        // only addresses: the kernel gives the memory when it is written to.
        guard let length = Int(exactly: expected), body.reserve(length) else { return refused(.noMemoryForBody) }
        return true
    }

    /// A file has no header; libcurl knows its length.
    private var fileHead: ResponseHead {
        let length = max(easy.large(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T), 0)
        return newHead(Response(status: 0, url: terms.url), expectedBytes: length)
    }

    /// The end has come without error: an empty file has shown nothing of itself until now.
    mutating func endedWell() {
        hasBody = true
        if terms.isFile && head == nil { head = fileHead }
    }
}
