internal import CCurl
internal import Glibc
internal import SDDBase

/// One transfer: for each of its hops it makes an easy handle and sets it up, reads the answer, and says what has
/// happened. No handle sees a second hop: state of libcurl's from one response must not meet the next. It does not
/// know the multi handle. Owned by `CurlLoop`, and kept at its address, which libcurl holds.
/// thread: sdd-net
final class CurlTransfer {
    /// Transfers to which something has come since the loop last looked.
    final class News {
        var transfers: [CurlTransfer] = []
        /// Running transfers that must not be sent twice: then all listen to what libcurl does.
        var listeners = 0
        /// How many hops each connection serves that may be one of HTTP/2, by the port of its own end.
        var users: [Int32: Int] = [:]
        /// Running transfers that may speak HTTP/2, and have begun while there were no listeners.
        var deaf: Set<TransferID> = []
    }

    /// What all transfers of a loop have in common.
    struct Surroundings {
        let options: CurlOptions
        let news: News
        let time: any TimeSource
        let watch: TurnWatch
    }

    /// How a hop ended.
    enum Conclusion {
        case ended(TransferEnd)
        case redirected(HTTPRequest)
        /// What there was of the body is of no use.
        case startsOver(HTTPRequest)
        /// The host has not looked at it.
        case asksAgain(HTTPRequest)
    }

    let id: TransferID
    private let surroundings: Surroundings
    /// The hop's. libcurl reads the request's body and the header's list where they lie.
    private(set) var easy: EasyHandle
    private(set) var request: HTTPRequest
    private var headers: HeaderList
    private var reader: ResponseReader
    private var hop = Hop()
    private var witness: ConnectionWitness
    private var progress: Progress
    private var options: CurlOptions { surroundings.options }
    /// When its clocks are looked at next: the loop's.
    var nextLook = Int64.max
    /// It counts among `News.listeners`, until its end.
    var isListener = false

    /// What lasts from the first hop of a transfer to its last.
    private struct Progress {
        var priority = Priority.normal
        var redirects: Redirects
        var headerBudget: HeaderBudget
        var measures = TransferMeasures()
        var clocks: StageClocks
        var lastResponse: Response?
        var cookieCount = 0
        /// nil: nobody wants to know.
        var sentCookies: SentCookies?
        var pause: Pause?
        /// libcurl's verdict on a hop that ended in a pause.
        var heldCode: CURLcode?
        var sink = SinkPause.none
        var isAnnounced = false
        var isOver = false
        /// How often the host has not looked at the request.
        var refusals = 0
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

    /// What a sink that takes nothing just now has brought about.
    private enum SinkPause {
        case none
        /// What still comes is kept, up to the limit on bodies: over HTTP/2 all of it, see `Pause.hushed`.
        case waits
        /// libcurl does not read.
        case stopped
    }

    private struct Hop {
        enum Step { case connected, received }

        /// The latest since the loop last looked.
        var step: Step?
        var isConnected = false
        /// Of a connection that may be one of HTTP/2; 0: none.
        var port: Int32 = 0
        /// The request was sent, and nothing of an answer has come.
        var isUnanswered = false
        /// How often it was sent again without an answer in between.
        var repeats = 0
        static let mostRepeats = 1
        /// It was sent as often as it may be.
        var hasGivenUp = false
        var sentBytes: Int64 = 0
        /// errno of a socket() that failed.
        var socketError: Int32 = 0
        /// The policy refused an address, and none that it allowed was tried.
        var refusedAddress: AddressRefusal?
        var hasOpenedSocket = false
    }

    init(
        _ id: TransferID, _ request: HTTPRequest, priority: Priority, headers: HeaderList,
        in surroundings: Surroundings, at now: Int64
    ) throws(TransportError) {
        guard let easy = EasyHandle() else { throw .notStarted(CURLE_OUT_OF_MEMORY) }
        let configuration = surroundings.options.configuration
        self.id = id
        self.surroundings = surroundings
        self.easy = easy
        self.request = request
        self.headers = headers
        reader = ResponseReader(easy, request, in: surroundings)
        witness = Self.witness(request, surroundings, at: now)
        progress = Self.progress(configuration, request.options.values, at: now)
        progress.priority = priority
        progress.sentCookies = SentCookies(request)
        if request.url.scheme == .file && configuration.allowsFiles { try PlainFile.check(request.url.text) }
        try setUp()
    }

    /// The transfer that a handle of libcurl's belongs to.
    static func owner(of easy: UnsafeMutableRawPointer) -> CurlTransfer? {
        // Safety: `setUp` put it there; the loop keeps it while the handle is in use.
        EasyHandle.context(of: easy).map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Tells the hop's handle what to do.
    private func setUp() throws(TransportError) {
        // Safety: the handle, and with it libcurl's knowledge of this address, ends with the transfer.
        let address = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        do throws(EasyHandle.Refusal) {
            try easy.set(CURLOPT_PRIVATE, pointer: address)
            try CurlCallback.connect(easy, to: address, sockets: surroundings.watch.sockets)
            try options.apply(request, priority: progress.priority, to: easy)
            if progress.sentCookies != nil { try CurlCallback.tap(easy) }
            try easy.set(CURLOPT_HTTPHEADER, list: headers.first)
        } catch {
            throw .notStarted(error.code)
        }
        if progress.refusals > 0 { try? easy.set(CURLOPT_FRESH_CONNECT, true) }
        if !request.isIdempotent || progress.refusals > 0 || surroundings.news.listeners > 0 {
            listen()
        } else if maySpeakHTTP2 {
            surroundings.news.deaf.insert(id)
        }
    }

    private static func witness(
        _ request: HTTPRequest, _ surroundings: Surroundings, at now: Int64
    ) -> ConnectionWitness {
        ConnectionWitness(surroundings.watch, isSecure: request.url.scheme == .https, at: now)
    }

    private static func progress(
        _ configuration: TransportConfiguration, _ values: TransferOptions.Values, at now: Int64
    ) -> Progress {
        Progress(
            redirects: Redirects(
                limit: values.maxRedirects > 0 ? values.maxRedirects : configuration.maxRedirects,
                allowsDowngrade: configuration.allowsDowngrade),
            headerBudget: HeaderBudget(configuration), clocks: clock(configuration, values.clocks, at: now))
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
    /// The next hop, of a chain of redirects or from the start, once libcurl has let go of the handle.
    /// - Parameter headers: nil: those of the hop before.
    func goOn(_ request: HTTPRequest, headers: HeaderList?, at now: Int64) throws(TransportError) {
        guard let next = EasyHandle() else { throw .notStarted(CURLE_OUT_OF_MEMORY) }
        // What it reads from goes after it.
        let before = (easy, self.request, self.headers)
        defer { withExtendedLifetime(before) {} }
        easy = next
        self.request = request
        self.headers = headers ?? self.headers
        leaveConnection()
        hop = Hop()
        reader = ResponseReader(next, request, in: surroundings)
        witness = Self.witness(request, surroundings, at: now)
        progress.clocks = Self.clock(options.configuration, request.options.values.clocks, at: now)
        try setUp()
    }

    /// It has been told of, or nobody waits for it any more.
    func isDone() {
        progress.isOver = true
        leaveConnection()
    }

    /// What libcurl's verdict on the hop means: another one, or the end, with the body if it is a good one.
    func conclude(_ code: CURLcode) -> Conclusion {
        measure()
        if isNotProcessed(code) { return refused(code) }
        // The rest of what is passed over is of no interest, nor is how it ended.
        guard reader.refusal == nil, reader.isPassedOver else { return .ended(end(failure(code))) }
        if reader.startsOver {
            // Without one no answer makes it start over once more.
            var whole = request
            whole.resume = nil
            return .startsOver(whole)
        }
        guard let location = reader.location, let head = reader.head else { return .ended(end(failure(code))) }
        do throws(TransportError) {
            let next = try progress.redirects.follow(location, status: head.response.status, from: request)
            progress.lastResponse = head.response
            progress.measures.addRedirect()
            return .redirected(next)
        } catch {
            return .ended(end(error))
        }
    }

    /// RFC 9113 §8.7: safe to be sent again, whatever the method.
    private func isNotProcessed(_ code: CURLcode) -> Bool {
        guard code != CURLE_OK, reader.refusal == nil || hop.hasGivenUp, maySpeakHTTP2,
            easy.number(CURLINFO_HEADER_SIZE) == 0
        else { return false }
        // It has joined a connection that was as good as lost; but on one of its own it may not go the same way again.
        let hasJoined = progress.refusals == 0 && request.isIdempotent && easy.number(CURLINFO_NUM_CONNECTS) == 0
        if witness.isFlooded || code == CURLE_PARTIAL_FILE { return hasJoined }
        return witness.isNotProcessed(isLikely: request.isIdempotent && (hop.hasGivenUp || code == CURLE_HTTP2))
    }

    private func refused(_ code: CURLcode) -> Conclusion {
        progress.refusals += 1
        if progress.refusals <= Self.mostRefusals { return .asksAgain(request) }
        var error = TransportError.notProcessed(host: outcome(code).host, times: progress.refusals)
        error.curlCode = Int32(code.rawValue)
        return .ended(end(error))
    }

    private static let mostRefusals = 3

    /// A clock has run out.
    func endOfPatience(_ kind: TransportError.Kind) -> TransferEnd {
        measure()
        // libcurl would give it to the next request, and over HTTP/2 that may wait as long for a host that is gone.
        if kind == .stall || kind == .firstByteTimeout || kind == .tooSlow, isAloneOnConnection { witness.abandon() }
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
        progress.measures.add(easy, bodyCount: request.body?.count ?? 0)
        progress.cookieCount += reader.cookieCount
    }

    private func end(_ failure: TransportError?) -> TransferEnd {
        if failure == nil { reader.endedWell() }
        var metrics = progress.measures.metrics
        metrics.handedOutBytes = Int64(reader.count - bytesNotSunk)
        metrics.resumedBytes = reader.resumedBytes
        return TransferEnd(
            result: failure.map { .failure($0) } ?? .success(reader.takeBody()),
            response: reader.head?.response ?? progress.lastResponse,
            timings: progress.measures.timings, metrics: metrics,
            isEndProven: failure != nil || reader.isEndProven)
    }

    private func failure(_ code: CURLcode) -> TransportError? {
        // Ours first: libcurl only knows that the callback said no.
        if var refusal = reader.refusal {
            refusal.curlCode = Int32(code.rawValue)
            return refusal
        }
        let outcome = outcome(code)
        if code == CURLE_OK { return reader.flaw(at: outcome.host) ?? cut(outcome) }
        if code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR, maySpeakHTTP2 { witness.abandon() }
        guard witness.isFlooded else { return outcome.error }
        var error = TransportError.flood(host: outcome.host)
        error.curlCode = Int32(code.rawValue)
        return error
    }

    /// Where libcurl takes the end of a connection for that of a body.
    private func cut(_ outcome: CurlOutcome) -> TransportError? {
        reader.isOverHTTP2 && !reader.isEndProven && witness.isBroken ? .cutStream(host: outcome.host) : nil
    }

    private func outcome(_ code: CURLcode) -> CurlOutcome {
        CurlOutcome(
            code: code, easy: easy, request: request, words: easy.words, socketError: hop.socketError,
            configuration: options.configuration, environment: options.environment,
            hasHead: reader.head != nil, refusedAddress: hop.hasOpenedSocket ? nil : hop.refusedAddress)
    }
}

// MARK: - What libcurl calls

extension CurlTransfer {
    /// - Returns: what libcurl is to be answered: the count, 0 to end the transfer, or that it is to wait.
    func received(_ bytes: UnsafeRawPointer, count: Int) -> Int {
        witness.handsOut()
        // A pause that fell between two connections, the second with an answer to a challenge.
        if progress.pause == .stopped { return Int(CURL_WRITEFUNC_PAUSE) }
        if progress.sink != .none, hasOwnConnection {
            progress.sink = .stopped
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        note(.received)
        guard reader.received(bytes, count: count) else { return 0 }
        if reader.sinkWaits, progress.sink == .none { progress.sink = .waits }
        return count
    }

    /// One line, or several: libcurl 7.88 strings together those it has kept back in a pause.
    /// - Returns: false to make libcurl end the transfer.
    func receivedHeader(_ text: UnsafeRawBufferPointer) -> Bool {
        hop.isUnanswered = false
        note(.received)
        witness.handsOut()
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
        if let sent = progress.sentCookies { reader.isOfUnknownCaller = !sent.areKnown }
        guard reader.receivedHeader(line) else { return false }
        if let line = reader.takeSetCookieLine(), request.options.values.usesCookies {
            options.cookies.complete(line, of: request.url)
        }
        return true
    }

    func sentHead(_ bytes: UnsafeRawBufferPointer) { progress.sentCookies?.sent(bytes) }

    func receivedRaw(_ bytes: UnsafeRawBufferPointer) {
        note(.received)
        reader.receivedRaw(bytes)
    }

    /// A connection is there, and the request is about to be sent over it. libcurl sends a request again, up to five
    /// times, where a connection that was used before closes without an answer, and the server may have acted on it.
    /// - Returns: false if it was sent and not answered, and must not be sent again.
    func mayBeSent(localPort: Int32) -> Bool {
        guard witness.connected(localPort: localPort) else { return false }
        if hop.isUnanswered {
            hop.repeats += 1
            guard request.isIdempotent, hop.repeats <= Hop.mostRepeats else {
                hop.hasGivenUp = true
                reader.refuse(.unanswered(host: outcome(CURLE_OK).host))
                return false
            }
        }
        hop.isUnanswered = true
        hop.isConnected = true
        leaveConnection()
        if maySpeakHTTP2 { joinConnection(at: localPort) }
        note(.connected)
        return true
    }

    private func joinConnection(at port: Int32) {
        hop.port = port
        if port != 0 { surroundings.news.users[port, default: 0] += 1 }
    }

    private func leaveConnection() {
        guard hop.port != 0, let users = surroundings.news.users[hop.port] else { return }
        surroundings.news.users[hop.port] = users > 1 ? users - 1 : nil
        hop.port = 0
    }

    private var isAloneOnConnection: Bool { hop.port != 0 && surroundings.news.users[hop.port] == 1 }

    /// From here on libcurl tells what it does: what it tells of a connection, it tells one of those who share it.
    func listen() {
        guard !witness.isHearing, maySpeakHTTP2 else { return }
        try? CurlCallback.tap(easy)
        witness.isHearing = true
    }

    func heard(_ line: UnsafeRawBufferPointer) { witness.heard(line) }

    private func note(_ step: Hop.Step) {
        hop.step = step
        joinNews()
    }

    private func joinNews() {
        guard !progress.isInNews else { return }
        progress.isInNews = true
        surroundings.news.transfers.append(self)
    }

    /// Closed on exec, which libcurl 7.88 leaves to the application.
    func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        if !options.addressPolicy.allowsEverything,
            let refusal = options.addressPolicy.refusal(of: address, for: request.url.text)
        {
            hop.refusedAddress = refusal
            return -1
        }
        hop.hasOpenedSocket = true
        let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.pointee.family, type, address.pointee.protocol)
        if descriptor < 0 { hop.socketError = errno } else { surroundings.watch.sockets.opened(descriptor) }
        return descriptor
    }
}

// MARK: - What the loop asks

extension CurlTransfer {
    var isPaused: Bool { progress.pause != nil }
    var isOver: Bool { progress.isOver }
    /// Cookies that servers have set, by all hops.
    var cookieCount: Int { progress.cookieCount }

    /// Appends what is new since the last call.
    func takeNews(at now: Int64, into events: inout [TransferEvent]) {
        progress.isInNews = false
        guard !isOver else { return }
        switch hop.step {
        case .connected: progress.clocks.connected(hasBody: request.body.map { $0.count > 0 } ?? false, at: now)
        case .received: progress.clocks.received(at: now)
        case nil: break
        }
        if wantsMark { witness.mark() }
        hop.step = nil
        if progress.sink != .none { progress.clocks.sinkBlocked(at: now) }
        guard !isPaused, reader.refusal == nil else { return }
        tell(&events)
    }

    /// How the connection ends may have to tell whether the body is whole.
    private var wantsMark: Bool {
        if CurlFeatures.knowsEndsOfStreams { return false }
        return hop.step == .connected ? maySpeakHTTP2 : reader.isOverHTTP2 && !reader.isEndProven
    }

    private var maySpeakHTTP2: Bool { request.url.scheme == .https || options.configuration.speaksHTTP2Plainly }

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
        if progress.clocks.isSending, let count = request.body?.count {
            let sent = easy.large(CURLINFO_SIZE_UPLOAD_T)
            if sent != hop.sentBytes { progress.clocks.sentSome(at: now) }
            if sent >= count { progress.clocks.sentAll(sent, at: now) }
            hop.sentBytes = sent
        }
        return progress.clocks.look(at: now) {
            easy.large(CURLINFO_SIZE_UPLOAD_T) + easy.large(CURLINFO_SIZE_DOWNLOAD_T)
                + Int64(easy.number(CURLINFO_HEADER_SIZE))
        }
    }

    func setPriority(_ priority: Priority) {
        guard priority != progress.priority else { return }
        progress.priority = priority
        try? options.setPriority(priority, easy)
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
        if wasStopped { readOn() }
        joinNews()
        return wasTakenAway
    }

    /// libcurl reads again, unless the sink takes nothing. What it had kept back comes within this call.
    private func readOn() {
        if progress.sink == .none {
            _ = curl_easy_pause(easy.raw, CURLPAUSE_CONT)
        } else {
            progress.sink = .stopped
        }
    }

    /// The end of a hop, unless it is one to be told of later.
    func holdIfPaused(_ code: CURLcode) -> Bool {
        guard isPaused || waitsForSink else { return false }
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
        case .standard: easy.httpVersion > 0 ? easy.httpVersion < 20 : request.url.scheme != .https
        }
    }
}

// MARK: - Sinks that take nothing

extension CurlTransfer {
    var waitsForSink: Bool { progress.sink != .none }

    /// To be polled for writing.
    var sinkDescriptor: Int32 { request.sink?.descriptor ?? -1 }

    /// The sink may take more. What libcurl had kept back comes within this call, and may make it wait once more.
    /// - Returns: whether it has all there was, or never will.
    func flushSink(at now: Int64) -> Bool {
        guard waitsForSink, let sink = request.sink else { return true }
        let before = sink.waitingBytes
        let outcome = sink.flush()
        if sink.waitingBytes < before { progress.clocks.sinkTookSome(at: now) }
        if case .waits = outcome { return false }
        if case .failed(let code) = outcome { reader.refuse(.sinkNotWritable(systemError: code)) }
        let wasStopped = progress.sink == .stopped
        progress.sink = .none
        progress.clocks.sinkDrained(at: now)
        if wasStopped, progress.pause == nil { readOn() }
        joinNews()
        return progress.sink == .none
    }

    /// Bytes of the body that the sink has not taken.
    private var bytesNotSunk: Int { request.sink?.waitingBytes ?? 0 }
}
