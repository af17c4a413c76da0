internal import CCurl
internal import SDDBase

/// Collects the response of one hop from libcurl's callbacks, and stops it at the limits. An object: a struct of its size was
/// copied seven times a request.
/// thread: sdd-net
final class ResponseReader {
    /// The parts of a request that its response depends on.
    struct Terms {
        var url = ""
        var isFile = false
        /// The sink that the body goes to; nil: memory.
        var sink: BodySink?
        /// A length may be announced, and no body comes.
        var isHEAD = false
        /// There is a password to answer a 401 with: then libcurl may ask once more.
        var canAnswerChallenge = false
        /// The rest of a body is asked for.
        var resume: ResumePoint?
        var headers = HTTPFields()
        var redirects = RedirectRule.follow
        /// The body is wanted as it is sent.
        var staysPacked = false
        /// libcurl asks for HTTP/2 in the middle of HTTP/1.1.
        var asksForUpgrade = false

        var asksForPart: Bool { resume != nil || headers["Range"] != nil }
    }

    private let easy: EasyHandle
    private let limit: Int64
    private let terms: Terms
    private let time: any TimeSource
    /// The time by the wall clock.
    private let begun: Int64
    private var header = HeaderReader()
    private let body = ByteBuilder()
    /// Bytes that went to the sink.
    private var sunkBytes = 0
    /// The sink has not taken all bytes yet.
    private(set) var sinkWaits = false
    private var droppedBytes = 0
    private var hasBody = false
    private var packing = Packing.none
    private var packedEnd: PackedEnd?
    /// libcurl was told to hand the body out as it comes.
    private var isLeftPacked = false

    private enum Packing {
        case none, one(PackedEnd.Coding)
        /// Codings that nobody here knows: the body is handed out as it came.
        case unknown
        /// More layers than one are of no use but to hide a bomb.
        case layers
        /// libcurl unpacks it, but nothing tells whether it is whole.
        case unproven
    }

    /// nil until the header of a response that is no interim one is complete.
    private(set) var head: ResponseHead?
    /// The target of a redirect, whose body nobody gets.
    private(set) var location: String?
    /// The rest does not come: the whole is to be asked for, and this response is nobody's either.
    private(set) var startsOver = false
    /// The length of the whole body, once its part has been joined with the rest.
    private var joinedTotal: Int64?
    /// Why no more is taken.
    private(set) var refusal: TransportError?
    /// Other cookies were sent than the request knew of.
    var isOfUnknownCaller = false
    /// libcurl was told to show the body before unpacking, too.
    private var hasTapped = false

    init(_ easy: EasyHandle, limit: Int64, terms: Terms, time: any TimeSource) {
        self.easy = easy
        self.limit = limit
        self.terms = terms
        self.time = time
        begun = time.wallMicroseconds()
    }

    /// Bytes of the body as it is handed out, also where it is not kept.
    var count: Int { body.count + sunkBytes }
    var cookieCount: Int { header.cookieCount }

    /// Of the line that was read last, where libcurl has understood less of it.
    func takeSetCookieLine() -> SetCookieLine? { header.takeSetCookieLine() }

    /// Another hop follows this one.
    var isPassedOver: Bool { location != nil || startsOver }

    /// Bytes of the body that did not have to come, because they were there.
    var resumedBytes: Int64 { joinedTotal == nil ? 0 : terms.resume?.count ?? 0 }

    /// The head, once it is sure that it is the final one.
    var finalHead: ResponseHead? { isPassedOver || isChallenge && !hasBody ? nil : head }

    func takeBody() -> Bytes { body.take() }

    var bodySoFar: Bytes { body.soFar() }

    func refuse(_ error: TransportError) { refusal = refusal ?? error }

    /// What libcurl 7.88 takes for success and is none. After the end.
    func flaw(at host: @autoclosure () -> String) -> TransportError? {
        if terms.isFile { return nil }
        // A connection that ends within the header passes for the end of an empty body.
        guard head != nil, header.stage == .complete else { return .cutHeader(host: host()) }
        if let packedEnd, !packedEnd.isEnd(ofUnpacked: count) { return .cutPacking(host: host()) }
        if let joinedTotal, Int64(count) < joinedTotal { return .cutRest(host: host()) }
        return nil
    }

    /// Something says that all of the body has come, once libcurl has said so without an error and there was no `flaw`. A
    /// body that ends with its connection (RFC 9112 §8) is not proven, nor one over HTTP/2 for which libcurl took whatever
    /// ended the stream for its end.
    var isEndProven: Bool {
        guard let head, !terms.isFile, !terms.isHEAD, joinedTotal == nil else { return true }
        if [204, 304].contains(head.response.status) || header.length != nil || header.isChunked { return true }
        if packedEnd != nil { return true }
        return head.response.httpVersion >= 20 && CurlFeatures.knowsEndsOfStreams
    }

    var isOverHTTP2: Bool { head?.response.httpVersion ?? 0 >= 20 }

    private var isChallenge: Bool { head?.response.status == 401 && terms.canAnswerChallenge }
}

// MARK: - Header

extension ResponseReader {
    /// A line of a header, of each response on the way to the final one.
    /// - Returns: false to make libcurl end the transfer.
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
        // RFC 9110 §15: outside of it there are none. Those above 599 are left to the callers, as other failures are.
        guard status >= 100 else { return refused(.badStatus(status, host: host)) }
        guard let fields = header.takeFields() else { return refused(.noMemoryForHeader) }
        let hasBody = !terms.isHEAD && status / 100 != 1 && status != 204 && status != 304
        if let fault = header.fault(of: fields, hasBody: hasBody) { return refused(.badHeader(fault, host: host)) }
        // §15.2.2: nobody has asked for another protocol.
        guard status != 101 || terms.asksForUpgrade else { return refused(.switchedProtocols(host: host)) }
        // Another one follows an interim response.
        guard status / 100 != 1 else { return true }
        // §15.3.7: who has asked for all would take the part for it.
        guard status != 206 || terms.asksForPart else { return refused(.unaskedPart(host: host)) }
        let response = Response(
            status: status, httpVersion: easy.httpVersion, url: terms.url, fields: fields,
            isOfUnknownCaller: isOfUnknownCaller)
        switch judge(response) {
        case .joins(let total): return join(response, total: total)
        case .startsOver:
            startsOver = true
            return isWorthReading
        case .standsAlone: break
        }
        if header.isPacked { readPacking(fields) }
        head = newHead(response, expectedBytes: hasBody ? expectedBytes : 0)
        if Redirects.isRedirect(status), terms.redirects != .handOut {
            do throws(HeaderRules.Violation) { location = try HeaderRules.location(fields) } catch {
                return refused(.badHeader(error.fault, host: host))
            }
            if let location { return passOver(to: location) }
        }
        // libcurl drops the body of a challenge that it answers.
        return isChallenge || check()
    }

    private func newHead(_ response: Response, expectedBytes: Int64) -> ResponseHead {
        ResponseHead(
            response: response, expectedBytes: expectedBytes, requestTime: begun,
            responseTime: time.wallMicroseconds())
    }

    private func passOver(to location: String) -> Bool {
        guard terms.redirects == .refuse else { return isWorthReading }
        return refused(.redirectUnwanted(to: Redirects.shown(location, from: terms.url), host: host))
    }

    /// Of a response that is passed over.
    private var isWorthReading: Bool { (header.length ?? 0) <= Int64(Self.mostDroppedBytes) }

    /// Length of the body as it will be handed out; -1 when packed or unknown.
    private var expectedBytes: Int64 {
        guard let length = header.length, !header.hasTransferCoding else { return -1 }
        return switch packing {
        case .none, .unknown: length
        case .one, .layers, .unproven: -1
        }
    }

    private var host: String { URLText.host(terms.url) }

    /// Before a body is taken.
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

    /// Makes libcurl show the body as it was sent, too.
    private func tap() {
        guard !hasTapped else { return }
        hasTapped = true
        try? CurlCallback.tap(easy)
    }

    /// Lets libcurl unpack what it can, and what somebody can see the end of.
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

    /// libcurl 7.88 goes by this when the body comes, and ends a transfer whose coding it does not know.
    private func leavePacked(_ leave: Bool) {
        guard leave != isLeftPacked else { return }
        isLeftPacked = leave
        try? easy.set(CURLOPT_HTTP_CONTENT_DECODING, !leave)
    }
}

// MARK: - Resuming

extension ResponseReader {
    private func judge(_ response: Response) -> RangeJoin.Verdict {
        // Trailers can look like another header: no part goes into a body that has begun.
        guard let resume = terms.resume, !hasBody else { return .standsAlone }
        // The rest of something else, behind a redirect that leads elsewhere now.
        if response.status == 206, let url = resume.url, url != response.url { return .startsOver }
        let length = header.hasTransferCoding ? nil : header.length
        return RangeJoin(resume).judge(status: response.status, response.fields, length: length)
    }

    /// From here on all is as if the whole body came, and the part of it had come.
    private func join(_ response: Response, total: Int64) -> Bool {
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

    /// Takes bytes of the body as they came, with framing and packing; called only after `tap`.
    func receivedRaw(_ bytes: UnsafeRawBufferPointer) {
        guard head != nil else { return }
        packedEnd?.append(bytes)
    }

    /// Unpacked.
    /// - Returns: false to make libcurl end the transfer.
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
        // Counted here, after unpacking: libcurl's own limit looks at the announced length alone.
        guard !overflow, Int64(total) <= limit else { return refused(.bodyTooLarge(limit: limit)) }
        if let joinedTotal, Int64(total) > joinedTotal { return refused(.tooLongRest(of: joinedTotal)) }
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
    func endedWell() {
        hasBody = true
        if terms.isFile && head == nil { head = fileHead }
    }
}
