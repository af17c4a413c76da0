internal import CCurl
internal import Glibc
internal import SDDBase

/// One easy handle, for one request after another, and for one hop of a request after another: sets it up, reads
/// the answer, says what has happened. It does not know the multi handle. Owned by `CurlLoop`, and kept at its
/// address, which libcurl holds.
/// thread: sdd-net
final class CurlTransfer {
    /// Transfers to which something has come since the loop last looked.
    final class News { var transfers: [CurlTransfer] = [] }

    /// How a hop ended.
    enum Conclusion {
        case ended(TransferEnd)
        case redirected(HTTPRequest)
        /// What there was of the body is of no use.
        case startsOver(HTTPRequest)
    }

    let easy: EasyHandle
    private let options: CurlOptions
    private let news: News
    private let time: any TimeSource
    private var applied = CurlOptions.Applied()
    private var headers: HeaderList?
    /// libcurl writes its own sentence on a failure to it.
    private let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    private(set) var id = TransferID(0)
    /// That of the hop; nil between two transfers. libcurl reads the body where it lies in here.
    private(set) var request: HTTPRequest?
    private var progress: Progress
    private var reader: ResponseReader
    private var hop = Hop()

    /// What lasts from the first hop of a transfer to its last.
    private struct Progress {
        var priority = Priority.normal
        var redirects: Redirects
        var headerBudget: HeaderBudget
        var measures = TransferMeasures()
        var clocks: StageClocks
        var lastResponse: Response?
        var setsCookies = false
        var pause: Pause?
        /// libcurl's verdict on a hop that ended in a pause.
        var heldCode: CURLcode?
        var isAnnounced = false
        var reportedBytes = 0
        /// How much of the body has been shown; nil: nobody wants to see it.
        var shownBytes: Int?
        var isInNews = false
    }

    private enum Pause {
        /// There is no connection: libcurl cannot pause that, and does not have the transfer meanwhile.
        case takenAway
        /// libcurl does not read, and so the server stops sending in the end.
        case stopped
        /// libcurl goes on, and nothing is told. HTTP/2 of libcurl 7.88 bears no other pause: what comes for a stream
        /// that nobody reads blocks those it shares the connection with, and part of it may be lost.
        case hushed
    }

    private struct Hop {
        enum Step { case connected, received }

        /// The latest since the loop last looked.
        var step: Step?
        var isConnected = false
        var sentBytes: Int64 = 0
        /// errno of a socket() that failed.
        var socketError: Int32 = 0
        /// The policy refused an address, and none that it allowed was tried.
        var hasRefusedAddress = false
        var hasOpenedSocket = false
    }

    /// - Returns: nil when libcurl has no memory for it.
    init?(options: CurlOptions, news: News, time: any TimeSource) {
        guard let raw = curl_easy_init() else {
            words.deallocate()
            return nil
        }
        easy = EasyHandle(raw: raw)
        reader = ResponseReader(easy, limit: 0, terms: .init(), time: time)
        progress = Self.progress(options.configuration, TransferClocks(), at: 0)
        words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        self.options = options
        self.news = news
        self.time = time
        do { try prepare() } catch { return nil }
    }

    deinit {
        curl_easy_cleanup(easy.raw)
        words.deallocate()
    }

    /// The transfer a handle belongs to.
    static func owner(of easy: EasyHandle) -> CurlTransfer? {
        // Safety: `prepare` put it there; the loop keeps it while the handle is in use.
        easy.pointer(CURLINFO_PRIVATE).map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    private func prepare() throws(EasyHandle.Refusal) {
        try options.prepare(easy)
        // Safety: the handle, and with it libcurl's knowledge of this address, ends with the transfer.
        let address = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        try easy.set(CURLOPT_PRIVATE, pointer: address)
        try easy.set(CURLOPT_ERRORBUFFER, pointer: words)
        try CurlCallback.connect(easy, to: address)
    }

    private static func progress(
        _ configuration: TransportConfiguration, _ clocks: TransferClocks, at now: Int64
    ) -> Progress {
        Progress(
            redirects: Redirects(
                limit: configuration.maxRedirects, allowsDowngrade: configuration.allowsDowngrade),
            headerBudget: HeaderBudget(configuration), clocks: clock(configuration, clocks, at: now))
    }

    private static func clock(
        _ configuration: TransportConfiguration, _ clocks: TransferClocks, at now: Int64
    ) -> StageClocks {
        let isHeldBack = configuration.maxConnections > 0 || configuration.maxConnectionsPerHost > 0
        return StageClocks(clocks, countsConnect: !isHeldBack, startedAt: now)
    }
}

// MARK: - Begin and end

extension CurlTransfer {
    func begin(
        _ id: TransferID, _ request: HTTPRequest, priority: Priority, headers: HeaderList, at now: Int64
    ) throws(TransportError) {
        self.id = id
        progress = Self.progress(options.configuration, request.options.values.clocks, at: now)
        progress.priority = priority
        if request.url.scheme == .file && options.configuration.allowsFiles { try PlainFile.check(request.url.text) }
        try beginHop(request, headers: headers)
    }

    /// The next hop, of a chain of redirects or from the start, on the same handle, once libcurl has let go of it.
    /// - Parameter headers: nil: those of the hop before.
    func goOn(_ request: HTTPRequest, headers: HeaderList?, at now: Int64) throws(TransportError) {
        let headers = headers ?? self.headers
        progress.clocks = Self.clock(options.configuration, request.options.values.clocks, at: now)
        guard makeFresh() else { throw .notStarted(CURLE_OUT_OF_MEMORY) }
        try beginHop(request, headers: headers)
    }

    private func beginHop(_ request: HTTPRequest, headers: HeaderList?) throws(TransportError) {
        self.request = request
        hop = Hop()
        reader = ResponseReader(easy, limit: options.configuration.maxBodyBytes, terms: .init(request), time: time)
        do throws(EasyHandle.Refusal) {
            if headers !== self.headers { try easy.set(CURLOPT_HTTPHEADER, list: headers?.first) }
            self.headers = headers
            try options.apply(request, priority: progress.priority, to: easy, after: &applied)
        } catch {
            throw .notStarted(error.code)
        }
    }

    /// What libcurl's verdict on the hop means: another one, or the end, with the body if it is a good one.
    func conclude(_ code: CURLcode) -> Conclusion {
        measure()
        // The rest of what is passed over is of no interest, nor is how it ended.
        guard reader.refusal == nil, reader.isPassedOver, var request else { return .ended(end(failure(code))) }
        if reader.startsOver {
            // Without one no answer makes it start over once more.
            request.resume = nil
            return .startsOver(request)
        }
        guard let location = reader.location, let head = reader.head else { return .ended(end(failure(code))) }
        do throws(TransportError) {
            request = try progress.redirects.follow(location, status: head.response.status, from: request)
        } catch {
            return .ended(end(error))
        }
        progress.lastResponse = head.response
        progress.measures.addRedirect()
        return .redirected(request)
    }

    /// A clock has run out.
    func endOfPatience(_ kind: TransportError.Kind) -> TransferEnd {
        measure()
        var error = TransportError.expired(
            kind, after: progress.clocks.limit(of: kind), host: outcome(CURLE_OPERATION_TIMEDOUT).host)
        error.curlCode = Int32(CURLE_OPERATION_TIMEDOUT.rawValue)
        return end(error)
    }

    /// libcurl did not come to a verdict.
    func endWithout(_ error: TransportError) -> TransferEnd {
        measure()
        return end(error)
    }

    private func measure() {
        progress.measures.add(easy, bodyCount: request?.body?.count ?? 0)
        progress.setsCookies = progress.setsCookies || reader.setsCookies
    }

    private func end(_ failure: TransportError?) -> TransferEnd {
        if failure == nil { reader.endedWell() }
        var metrics = progress.measures.metrics
        metrics.handedOutBytes = Int64(reader.count)
        metrics.resumedBytes = reader.resumedBytes
        return TransferEnd(
            result: failure.map { .failure($0) } ?? .success(reader.takeBody()),
            response: reader.head?.response ?? progress.lastResponse,
            timings: progress.measures.timings, metrics: metrics)
    }

    private func failure(_ code: CURLcode) -> TransportError? {
        // Ours first: libcurl only knows that the callback said no.
        if var refusal = reader.refusal {
            refusal.curlCode = Int32(code.rawValue)
            return refusal
        }
        return code == CURLE_OK ? reader.flaw(at: outcome(code).host) : outcome(code).error
    }

    private func outcome(_ code: CURLcode) -> CurlOutcome {
        CurlOutcome(
            code: code, easy: easy, request: request, words: String(cString: words), socketError: hop.socketError,
            configuration: options.configuration, hasHead: reader.head != nil,
            isAddressRefused: hop.hasRefusedAddress && !hop.hasOpenedSocket)
    }

    /// Makes ready for another request, once libcurl has let go of the handle.
    /// - Returns: false if the handle is not worth keeping.
    func recycle() -> Bool {
        guard request != nil else { return true }
        defer {
            request = nil
            reader = ResponseReader(easy, limit: 0, terms: .init(), time: time)
        }
        return makeFresh()
    }

    private func makeFresh() -> Bool {
        let hasFailed = words.pointee != 0
        words.pointee = 0
        guard hasFailed || reader.hasTapped || request.map(CurlOptions.leavesTraces) ?? true else { return true }
        do {
            try options.reset(easy, &applied)
            headers = nil
            try prepare()
            return true
        } catch {
            return false
        }
    }
}

extension ResponseReader.Terms {
    fileprivate init(_ request: HTTPRequest) {
        let text = request.url.text
        url = request.url.hasUserinfo ? URLText.withoutCredentials(text) : text
        isFile = request.url.scheme == .file
        isHEAD = request.method == "HEAD"
        sink = request.sink
        canAnswerChallenge = request.options.values.credential?.username != nil
        resume = request.resume
    }
}

// MARK: - What libcurl calls

extension CurlTransfer {
    /// - Returns: what libcurl is to be answered: the count, 0 to end the transfer, or that it is to wait.
    func received(_ bytes: UnsafeRawPointer, count: Int) -> Int {
        guard request != nil else { return 0 }
        // A pause that fell between two connections, the second with an answer to a challenge.
        if progress.pause == .stopped { return Int(CURL_WRITEFUNC_PAUSE) }
        note(.received)
        return reader.received(bytes, count: count) ? count : 0
    }

    /// One line, or several: libcurl 7.88 strings together those it has kept back in a pause.
    /// - Returns: false to make libcurl end the transfer.
    func receivedHeader(_ text: UnsafeRawBufferPointer) -> Bool {
        guard request != nil else { return false }
        note(.received)
        var rest = text
        while let start = rest.baseAddress, rest.count > 0 {
            let end = memchr(start, Int32(UInt8(ascii: "\n")), rest.count).map { UnsafeRawPointer($0) - start + 1 }
            let length = end ?? rest.count
            guard receivedLine(UnsafeRawBufferPointer(start: start, count: length)) else { return false }
            rest = UnsafeRawBufferPointer(start: start + length, count: rest.count - length)
        }
        return true
    }

    private func receivedLine(_ line: UnsafeRawBufferPointer) -> Bool {
        guard progress.headerBudget.spend(line) else {
            reader.refuse(progress.headerBudget.error)
            return false
        }
        return reader.receivedHeader(line)
    }

    func receivedRaw(_ bytes: UnsafeRawBufferPointer) {
        guard request != nil else { return }
        note(.received)
        reader.receivedRaw(bytes)
    }

    /// A connection is there, and the request is about to be sent over it.
    func connected() {
        hop.isConnected = true
        note(.connected)
    }

    private func note(_ step: Hop.Step) {
        hop.step = step
        joinNews()
    }

    private func joinNews() {
        guard !progress.isInNews else { return }
        progress.isInNews = true
        news.transfers.append(self)
    }

    /// Closed on exec, which libcurl 7.88 leaves to the application.
    func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        if !options.addressPolicy.allowsEverything && !allows(address) {
            hop.hasRefusedAddress = true
            return -1
        }
        hop.hasOpenedSocket = true
        let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.pointee.family, type, address.pointee.protocol)
        if descriptor < 0 { hop.socketError = errno }
        return descriptor
    }

    private func allows(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Bool {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return false }
        // Safety: libcurl's record ends with the address, which is as long as its family wants, longer than `sockaddr`.
        let place = UnsafeRawPointer(address) + offset
        return options.addressPolicy.allows(place.assumingMemoryBound(to: sockaddr.self))
    }
}

// MARK: - What the loop asks

extension CurlTransfer {
    var isPaused: Bool { progress.pause != nil }
    var setsCookies: Bool { progress.setsCookies }

    /// Appends what is new since the last call.
    func takeNews(at now: Int64, into events: inout [TransferEvent]) {
        progress.isInNews = false
        guard let request else { return }
        switch hop.step {
        case .connected: progress.clocks.connected(hasBody: request.body.map { $0.count > 0 } ?? false, at: now)
        case .received: progress.clocks.received(at: now)
        case nil: break
        }
        hop.step = nil
        guard !isPaused, reader.refusal == nil else { return }
        tell(&events)
    }

    /// The head and what has come of the body, as far as they have not been told.
    private func tell(_ events: inout [TransferEvent]) {
        guard let head = reader.finalHead else { return }
        announce(head, &events)
        if reader.count > progress.reportedBytes {
            progress.reportedBytes = reader.count
            events.append(.received(id, Int64(reader.count)))
        }
        if let shown = progress.shownBytes, reader.count > shown {
            progress.shownBytes = reader.count
            events.append(.body(id, reader.bodySoFar))
        }
    }

    /// From now on the body is shown as it comes, and what there is of it at once.
    func show() {
        progress.shownBytes = progress.shownBytes ?? 0
        joinNews()
    }

    /// Appends the end; before it the response if nothing has told of it, and of a body that breaks off what has
    /// not been shown.
    func takeEnd(_ end: TransferEnd, into events: inout [TransferEvent]) {
        if case .success = end.result, let head = reader.finalHead { announce(head, &events) }
        if case .failure = end.result, let shown = progress.shownBytes, reader.count > shown { tell(&events) }
        events.append(.finished(id, end))
    }

    private func announce(_ head: ResponseHead, _ events: inout [TransferEvent]) {
        guard !progress.isAnnounced else { return }
        progress.isAnnounced = true
        events.append(.response(id, head))
    }

    /// Whether a clock has run out, or when to look again.
    func look(at now: Int64) -> StageClocks.Look {
        if progress.clocks.isSending, let count = request?.body?.count {
            let sent = easy.large(CURLINFO_SIZE_UPLOAD_T)
            if sent != hop.sentBytes { progress.clocks.sentSome(at: now) }
            if sent >= count { progress.clocks.sentAll(at: now) }
            hop.sentBytes = sent
        }
        return progress.clocks.look(at: now)
    }

    func setPriority(_ priority: Priority) {
        progress.priority = priority
        try? options.setPriority(priority, easy, &applied)
    }

    /// - Returns: whether libcurl is to have the transfer no more, until it goes on.
    func pause(at now: Int64) -> Bool {
        progress.clocks.pause(at: now)
        progress.pause = !hop.isConnected ? .takenAway : hasOwnConnection ? .stopped : .hushed
        if progress.pause == .stopped { _ = curl_easy_pause(easy.raw, CURLPAUSE_ALL) }
        return progress.pause == .takenAway
    }

    /// - Returns: whether libcurl is to have the transfer again.
    func resume(at now: Int64) -> Bool {
        progress.clocks.resume(at: now)
        let wasTakenAway = progress.pause == .takenAway
        let wasStopped = progress.pause == .stopped
        progress.pause = nil
        // What it had kept back comes within this call.
        if wasStopped { _ = curl_easy_pause(easy.raw, CURLPAUSE_CONT) }
        joinNews()
        return wasTakenAway
    }

    /// The end of a hop, if it is one to be told of now.
    func holdIfPaused(_ code: CURLcode) -> Bool {
        guard isPaused else { return false }
        progress.heldCode = code
        return true
    }

    /// What to make of the hop now that the transfer goes on; nil if it is not over.
    func takeHeldCode() -> CURLcode? {
        defer { progress.heldCode = nil }
        // libcurl does not end a transfer for what it had kept back.
        return progress.heldCode ?? (reader.refusal == nil ? nil : CURLE_WRITE_ERROR)
    }

    /// Over HTTP/1 nobody shares the connection. Which version it is shows with the response.
    private var hasOwnConnection: Bool {
        switch options.configuration.httpVersion {
        case .http1_0, .http1_1: true
        case .http2, .http2PriorKnowledge: false
        case .standard: easy.httpVersion > 0 ? easy.httpVersion < 20 : request?.url.scheme != .https
        }
    }
}
