internal import CCurl
internal import SDDBase

/// Collects the response of one hop from libcurl's callbacks, and stops it at the limits. A class, because a struct of
/// this size was copied seven times per request.
/// thread: sdd-net
final class ResponseReader {
    /// The parts of a request that its response depends on.
    struct Terms {
        private let request: HTTPRequest
        /// Without user and password.
        let url: String
        let isFile: Bool
        /// True if a length may be announced although no body follows.
        let isHEAD: Bool
        /// True if there is a password to answer a 401 with, so that libcurl may send the request again.
        let canAnswerChallenge: Bool
        /// True if libcurl requests an upgrade from HTTP/1.1 to HTTP/2.
        let asksForUpgrade: Bool

        init(_ request: HTTPRequest, asksForUpgrade: Bool) {
            self.request = request
            url = request.url.textWithoutUserinfo
            isFile = request.scheme == .file
            isHEAD = request.method == "HEAD"
            canAnswerChallenge =
                request.options.values.credential?.username != nil && request.authorization == nil
            self.asksForUpgrade = asksForUpgrade
        }

        /// The sink for the body; `nil` means memory.
        var sink: BodySink? { request.sink }
        /// The resume point, if only the rest of a body is requested.
        var resume: ResumePoint? { request.resume }
        var redirects: RedirectRule { request.options.values.redirects }
        /// The Authorization field that is sent without a challenge.
        var authorization: Authorization? { request.authorization }
        /// True if the body is wanted as it is sent, without decompression.
        var staysPacked: Bool { request.options.values.staysPacked }
        var asksForPart: Bool { request.resume != nil || request.headers["Range"] != nil }
        /// The range that the application asks for, if it is a single one.
        var range: RangeWish? { request.method == "GET" ? RangeWish(request.headers) : nil }
    }

    private let easy: EasyHandle
    private let limit: Int64
    private let terms: Terms
    private let time: any TimeSource
    /// The time at which the hop began, by the wall clock.
    private let begun: Int64
    private var header = HeaderReader()
    private let body = ByteBuilder()
    /// Bytes of the body that were not kept, because the request has a sink.
    private var sunkBytes = 0
    /// True if the sink has not taken all bytes yet.
    private(set) var sinkWaits = false
    private var droppedBytes = 0
    private var hasBody = false
    private var packing = Packing.none
    private var packedEnd: PackedEnd?
    /// True if libcurl was told not to decompress the body.
    private var isLeftPacked = false

    private enum Packing {
        case none, one(PackedEnd.Coding)
        /// The body is delivered as it arrives, because its coding is not supported or because the request wants that.
        case unknown
        /// More than one layer of compression, which is useful only to hide a decompression bomb.
        case layers
        /// libcurl decompresses the coding, but the end of its data cannot be verified.
        case unproven
    }

    /// The head; `nil` until the header of a response other than an interim one is complete.
    private(set) var head: ResponseHead?
    /// The target of a redirect, whose body is discarded.
    private(set) var location: String?
    /// True if the server does not send the rest: the whole body must be requested, and this response is discarded.
    private(set) var startsOver = false
    /// The challenges of the last response with status 401.
    private(set) var challenges: [AuthChallenge] = []
    /// The consequence of a 401 to a request with an authorization, unless the 401 is the result.
    private(set) var authorizationRefusal: Authorization.Refusal?
    /// The size of the body as a Content-Range tells it: of the asked part, or of the whole after its part has been joined
    /// with the rest.
    private var toldCount: Int64?
    /// The reason why the rest of the response is refused.
    private(set) var refusal: TransportError?
    /// Responses with status 401 that libcurl has answered, or is about to answer.
    private var challengeCount = 0
    /// libcurl answers again whenever the server calls its nonce stale: RFC 7616 §3.3.
    private static let mostChallenges = 3
    /// `Response.redirectsVary` of the hop.
    var redirectsVary: [String] = []
    /// True if cookies were sent that the request did not know of.
    var isOfUnknownCaller = false
    /// True if libcurl was told to report the body before decompression as well.
    private var hasTapped = false

    init(_ easy: EasyHandle, limit: Int64, terms: Terms, time: any TimeSource) {
        self.easy = easy
        self.limit = limit
        self.terms = terms
        self.time = time
        begun = time.wallMicroseconds()
    }

    /// Bytes of the body as it is delivered, including those that are not kept.
    var count: Int { body.count + sunkBytes }
    var cookieCount: Int { header.cookieCount }

    /// Returns the Set-Cookie line that was read last, if libcurl has ignored some of its attributes.
    func takeSetCookieLine() -> SetCookieLine? { header.takeSetCookieLine() }

    /// True if another hop follows this one.
    var isPassedOver: Bool { location != nil || startsOver || authorizationRefusal != nil }

    /// Bytes of the body that were not transferred, because they were already there.
    var resumedBytes: Int64 { head?.resumedBytes ?? 0 }

    /// True if the server asks for the password again and again: its last response is the result, without its body.
    var hasBeenAskedEnough: Bool { challengeCount > Self.mostChallenges }

    /// The head, once it is certain to be the final one.
    var finalHead: ResponseHead? { isPassedOver || isChallenge && !hasBody && !hasBeenAskedEnough ? nil : head }

    func takeBody() -> Bytes { body.take() }

    var bodySoFar: Bytes { body.soFar() }

    func refuse(_ error: TransportError) { refusal = refusal ?? error }

    /// Returns an error if the response is incomplete although libcurl 7.88 reports success. Called after the end.
    func flaw(at host: @autoclosure () -> String) -> TransportError? {
        if terms.isFile { return nil }
        // libcurl treats a connection that ends within the header as the end of an empty body.
        guard head != nil, header.stage == .complete else { return .cutHeader(host: host()) }
        if let packedEnd, !packedEnd.isEnd(ofUnpacked: count) { return .cutPacking(host: host()) }
        if let toldCount, Int64(count) < toldCount { return .cutPart(host: host()) }
        return nil
    }

    /// True if the body is proven to be complete, provided that libcurl ended without an error and that there was no
    /// `flaw`. There is no proof for a body that ends with its connection (RFC 9112 §8), nor for one over HTTP/2: no
    /// libcurl distinguishes a stream that ended from one that was reset with NO_ERROR.
    var isEndProven: Bool {
        guard let head, !terms.isFile, !terms.isHEAD, toldCount == nil else { return true }
        if [204, 304].contains(head.response.status) || header.length != nil || header.isChunked { return true }
        return packedEnd != nil
    }

    /// True if the body has a coding that the library does not know, so that it is delivered as it arrives.
    var hasUnknownCoding: Bool {
        if case .unknown = packing { return !terms.staysPacked }
        return false
    }

    var isOverHTTP2: Bool { head?.response.httpVersion ?? 0 >= 20 }

    private var isChallenge: Bool { head?.response.status == 401 && terms.canAnswerChallenge }
}

// MARK: - Header

extension ResponseReader {
    /// Receives a header line of any response on the way to the final one.
    /// - Returns: `false` to make libcurl end the transfer.
    func receivedHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        guard !terms.isFile else { return true }
        let wasComplete = header.stage == .complete
        header.read(line)
        if wasComplete && header.stage != .complete {
            head = nil
            packing = .none
            packedEnd = nil
        }
        return wasComplete || header.stage != .complete || endHeader()
    }

    private func endHeader() -> Bool {
        let status = Int32(clamping: easy.number(CURLINFO_RESPONSE_CODE))
        // RFC 9110 §15: there are no statuses below 100. Those above 599 are left to the callers, like other failures.
        guard status >= 100 else { return refused(.badStatus(status, host: host)) }
        guard let fields = header.takeFields() else { return refused(.noMemoryForHeader) }
        let hasBody = !terms.isHEAD && status / 100 != 1 && status != 204 && status != 304
        if let fault = header.fault(of: fields, hasBody: hasBody) {
            return refused(.badHeader(fault, host: host, isRedirect: Redirects.isRedirect(status)))
        }
        // RFC 9112 §6.1: somebody on the way may not know chunks, and take another end for that of the response.
        if header.hasTransferCoding, easy.httpVersion == 10 { try? easy.set(CURLOPT_FORBID_REUSE, true) }
        // RFC 9110 §15.2.2: no other protocol was requested.
        guard status != 101 || terms.asksForUpgrade else { return refused(.switchedProtocols(host: host)) }
        // Another response follows an interim one.
        guard status / 100 != 1 else { return true }
        let response = Response(
            status: status, httpVersion: easy.httpVersion, url: terms.url, fields: fields,
            redirectsVary: redirectsVary, isOfUnknownCaller: isOfUnknownCaller)
        // RFC 9110 §15.3.7: a request for the whole body would mistake the part for it.
        if status == 206, !terms.asksForPart {
            head = newHead(response, expectedBytes: 0)
            return refused(.unaskedPart(host: host))
        }
        switch judge(response) {
        case .joins(let total): return join(response, total: total)
        case .startsOver:
            startsOver = true
            return isWorthReading
        case .standsAlone: break
        }
        if header.isPacked { readPacking(fields) }
        head = newHead(response, expectedBytes: hasBody ? expectedBytes : 0)
        guard takesPart(response) else { return refused(.otherPart(host: host)) }
        if Redirects.isRedirect(status), terms.redirects != .handOut {
            do throws(HeaderRules.Violation) { location = try HeaderRules.location(fields) } catch {
                return refused(.badHeader(error.fault, host: host, isRedirect: true))
            }
            if let location { return passOver(to: location) }
        }
        if status == 401 {
            challenges = AuthChallenge.all(in: fields)
            if let refusal = terms.authorization?.refusal(challenges), refusal != .final {
                authorizationRefusal = refusal
                return isWorthReading
            }
            challengeCount += 1
        }
        // libcurl discards the body of a challenge that it answers.
        return isChallenge ? !hasBeenAskedEnough : check()
    }

    private func newHead(_ response: Response, expectedBytes: Int64, resumedBytes: Int64 = 0) -> ResponseHead {
        ResponseHead(
            response: response, expectedBytes: expectedBytes, requestTime: begun,
            responseTime: time.wallMicroseconds(), resumedBytes: resumedBytes)
    }

    private func passOver(to location: String) -> Bool {
        guard terms.redirects == .refuse else { return isWorthReading }
        return refused(.redirectUnwanted(to: Redirects.shown(location, from: terms.url), host: host))
    }

    /// Whether the body of a discarded response is small enough to read, so that its connection can be reused.
    private var isWorthReading: Bool { (header.length ?? 0) <= Int64(Self.mostDroppedBytes) }

    /// The length of the body as it will be delivered; -1 if it is compressed or unknown.
    private var expectedBytes: Int64 {
        guard let length = header.length, !header.hasTransferCoding else { return -1 }
        return switch packing {
        case .none, .unknown: length
        case .one, .layers, .unproven: -1
        }
    }

    private var host: String { URLText.host(terms.url) }

    /// Checks the response before its body is taken.
    private func check() -> Bool {
        guard let expected = head?.expectedBytes, expected != 0 else { return true }
        switch packing {
        case .layers: return refused(.packedInLayers)
        case .unproven: return refused(.unprovenCoding)
        case .none, .one, .unknown: break
        }
        return expected <= limit || refused(.bodyTooLarge(limit: limit))
    }

    private func refused(_ error: TransportError) -> Bool {
        refuse(error)
        return false
    }

    /// Makes libcurl also report the body as it was sent.
    private func tap() {
        guard !hasTapped else { return }
        hasTapped = true
        try? CurlCallback.tap(easy)
    }

    /// Makes libcurl decompress the body if it supports all of its codings, and prepares to find the end of the data.
    private func readPacking(_ fields: ResponseFields) {
        if terms.staysPacked {
            packing = .unknown
            return leavePacked(true)
        }
        let names = HeaderRules.contentCodings(fields)
        let codings = names.compactMap(PackedEnd.Coding.init(name:))
        if codings.count < names.count {
            packing = .unknown
        } else if let coding = codings.first, codings.count == 1 {
            packedEnd = PackedEnd(
                coding, isChunked: header.isChunked, length: header.hasTransferCoding ? -1 : header.length ?? -1,
                limit: limit)
            packing = packedEnd == nil ? .unproven : .one(coding)
            tap()
        } else if !codings.isEmpty {
            packing = .layers
        }
        leavePacked(codings.count < names.count)
    }

    /// Turns libcurl's decompression off or on. libcurl 7.88 reads this option when the body arrives, and would fail a
    /// transfer with an unknown coding.
    func leavePacked(_ leave: Bool) {
        guard leave != isLeftPacked else { return }
        isLeftPacked = leave
        try? easy.set(CURLOPT_HTTP_CONTENT_DECODING, !leave)
    }
}

// MARK: - Parts of bodies

extension ResponseReader {
    private func judge(_ response: Response) -> RangeJoin.Verdict {
        // Trailers can look like another header, and a part must not be joined to a body that has begun.
        guard let resume = terms.resume, !hasBody else { return .standsAlone }
        // The response is the rest of something else, because a redirect leads elsewhere now.
        if response.status == 206, let url = resume.url, url != response.url { return .startsOver }
        let length = header.hasTransferCoding ? nil : header.length
        return RangeJoin(resume).judge(status: response.status, response.fields, length: length)
    }

    /// Whether a 206 is of the range that was asked for (RFC 9110 §15.3.7). Its size tells where the body ends.
    private func takesPart(_ response: Response) -> Bool {
        guard response.status == 206, let wish = terms.range else { return true }
        guard let range = ContentRange(of: response.fields), let positions = range.positions,
            wish.allows(positions, of: range.total)
        else { return false }
        // The positions are those of the packed body.
        if response.fields["Content-Encoding"] == nil { toldCount = Int64(positions.count) }
        return true
    }

    /// Continues as if the whole body were coming and its first part had just arrived.
    private func join(_ response: Response, total: Int64) -> Bool {
        guard let resume = terms.resume, let whole = RangeJoin(resume).joined(response, total: total) else {
            return refused(.noMemoryForHeader)
        }
        toldCount = total
        head = newHead(whole, expectedBytes: total, resumedBytes: resume.count)
        guard let part = resume.bytes.pointer.baseAddress else { return true }
        return received(part, count: resume.bytes.count)
    }
}

// MARK: - Body

extension ResponseReader {
    /// Bytes of a redirect's body that are read so that its connection can be reused. Beyond that a new connection is
    /// cheaper.
    private static let mostDroppedBytes = 64 << 10

    /// Receives bytes of the body as they arrive, with framing and compression. Called only after `tap`.
    func receivedRaw(_ bytes: UnsafeRawBufferPointer) {
        guard head != nil else { return }
        packedEnd?.append(bytes)
    }

    /// Receives decompressed bytes of the body.
    /// - Returns: `false` to make libcurl end the transfer.
    func received(_ bytes: UnsafeRawPointer, count: Int) -> Bool {
        guard refusal == nil else { return false }
        if isPassedOver {
            droppedBytes += count
            return droppedBytes <= Self.mostDroppedBytes
        }
        // libcurl has taken something else for a header.
        guard head != nil || terms.isFile else { return refused(.notHTTP(host: host)) }
        if !hasBody && !beginBody() { return false }
        let (total, overflow) = self.count.addingReportingOverflow(count)
        // The limit is checked here, after decompression, because libcurl's own limit applies only to the announced
        // length.
        guard !overflow, Int64(total) <= limit else { return refused(.bodyTooLarge(limit: limit)) }
        if let toldCount, Int64(total) > toldCount { return refused(.tooLongPart(host: host)) }
        if let sink = terms.sink { return write(bytes, count: count, to: sink) }
        return body.append(bytes, count: count) || refused(.noMemoryForBody)
    }

    private func write(_ bytes: UnsafeRawPointer, count: Int, to sink: BodySink) -> Bool {
        sunkBytes += count
        guard let head, sink.takes(head.response) else { return true }
        switch sink.write(bytes, count: count) {
        case .written: sinkWaits = false
        case .waits: sinkWaits = true
        case .failed(let code): return refused(.sinkNotWritable(systemError: code))
        }
        return true
    }

    private func beginBody() -> Bool {
        hasBody = true
        if terms.isFile { head = fileHead }
        guard check() else { return false }
        guard let expected = head?.expectedBytes, expected > 0, terms.sink == nil else { return true }
        // All memory is reserved at once, so that no byte is ever copied. A server that announces much and sends little
        // costs only address space, because the kernel provides memory when it is written to.
        guard let length = Int(exactly: expected), body.reserve(length) else { return refused(.noMemoryForBody) }
        return true
    }

    /// The head of a file, which has no header. libcurl knows the file's length.
    private var fileHead: ResponseHead {
        let length = max(easy.large(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T), 0)
        return newHead(Response(status: 0, url: terms.url), expectedBytes: length)
    }

    /// Handles an end without error. For an empty file there was no callback that could create the head.
    func endedWell() {
        hasBody = true
        if terms.isFile && head == nil { head = fileHead }
    }
}
