internal import CCurl
internal import Glibc
internal import SDDBase

/// One transfer: takes and sets up an easy handle for each hop, reads the response, and reports events. Handles are
/// used for a second hop only as `KeptHandles` says, because libcurl's state from one response must not affect the
/// next. A transfer does not know the multi handle. Owned by `CurlLoop`, and never moved, because libcurl holds its
/// address. thread: sdd-net
final class CurlTransfer {
    let id: TransferID
    let surroundings: Surroundings
    /// The handle of the current hop. libcurl reads the request's body and the header list in place.
    private(set) var easy: EasyHandle
    private(set) var request: HTTPRequest
    private var headers: HeaderList
    var reader: ResponseReader
    var hop = Hop()
    var witness: ConnectionWitness
    var progress: Progress
    var options: CurlOptions { surroundings.options }
    /// The time at which the loop looks at the clocks next; set by the loop.
    var nextLook = Int64.max
    /// True while the transfer counts among `News.listeners`, until its end.
    var isListener = false

    init(
        _ id: TransferID, _ request: HTTPRequest, priority: Priority, headers: HeaderList,
        in surroundings: Surroundings, at now: Int64
    ) throws(TransportError) {
        guard let easy = surroundings.handle(for: request, priority: priority) else {
            throw .notStarted(CURLE_OUT_OF_MEMORY)
        }
        self.id = id
        self.surroundings = surroundings
        self.easy = easy
        self.request = request
        self.headers = headers
        reader = ResponseReader(easy, request, in: surroundings)
        witness = surroundings.witness(of: request, at: now)
        progress = Progress(surroundings.options, request.options, at: now)
        progress.priority = priority
        progress.sentCookies = SentCookies(request)
        if request.scheme == .file && options.configuration.allowsFiles { try PlainFile.check(request.url.text) }
        try setUp()
    }

    /// Returns the transfer that a libcurl handle belongs to.
    static func owner(of easy: UnsafeMutableRawPointer) -> CurlTransfer? {
        // Safety: `setUp` put it there; the loop keeps it while the handle is in use.
        EasyHandle.context(of: easy).map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Sets the options of the hop's handle.
    private func setUp() throws(TransportError) {
        // Safety: the handle, and with it libcurl's knowledge of this address, ends with the transfer, or is kept: then
        // libcurl does not use the address before `reconnect` replaces it.
        let address = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        // Each of these would be counted anew each time that it is read here.
        let (surroundings, easy, request) = (surroundings, easy, request)
        let options = surroundings.options
        let kept = easy.shape
        do throws(EasyHandle.Refusal) {
            if kept != nil {
                try CurlCallback.reconnect(easy, to: address)
                try options.applyAgain(request, to: easy)
            } else {
                try CurlCallback.connect(easy, to: address, sockets: surroundings.watch.sockets)
                try options.apply(request, priority: progress.priority, to: easy)
            }
            if request.scheme == .https { try options.setWait(isSerial: surroundings.news.isSerial(request), easy) }
            if options.mayUseHTTP3(for: request) {
                let now = surroundings.time.monotonicMicroseconds()
                hop.way = options.alternatives.withLock { $0.way(to: request.hostKey, at: now) }
                try options.setWay(hop.way, for: request, easy)
            }
            try easy.set(CURLOPT_HTTPHEADER, list: headers.first)
            easy.shape = kept ?? .init(request, priority: progress.priority, options)
            if progress.sentCookies != nil { try CurlCallback.tap(easy) }
            if progress.leavesPacked { reader.leavePacked(true) }
        } catch {
            throw .notStarted(error.code)
        }
        if progress.wantsNewConnection { try? easy.set(CURLOPT_FRESH_CONNECT, true) }
        if !request.isIdempotent || progress.refusals > 0 || surroundings.news.listeners > 0 {
            listen()
        } else if maySpeakHTTP2 {
            surroundings.news.deaf.insert(id)
        }
        if maySpeakHTTP2 || options.configuration.limitsConnections { surroundings.news.waiting.begins(id.number) }
    }
}

// MARK: - Hops

extension CurlTransfer {
    /// Starts the next hop, after a redirect or from the beginning. libcurl's multi handle must have released the
    /// previous one.
    /// - Parameter headers: `nil` keeps the header list of the previous hop.
    func goOn(_ request: HTTPRequest, headers: HeaderList?, at now: Int64) throws(TransportError) {
        guard let next = surroundings.handle(for: request, priority: progress.priority) else {
            throw .notStarted(CURLE_OUT_OF_MEMORY)
        }
        // The previous handle reads from the request and headers, so they are freed after it.
        let before = (easy, self.request, self.headers)
        defer { withExtendedLifetime(before) {} }
        easy = next
        self.request = request
        self.headers = headers ?? self.headers
        leaveConnection()
        hop = Hop()
        reader = ResponseReader(next, request, in: surroundings)
        reader.redirectsVary = progress.lastResponse?.allVary ?? []
        witness = surroundings.witness(of: request, at: now)
        progress.clocks = Progress.clocks(options, request.options.values.clocks, at: now)
        try setUp()
    }

    /// Marks the transfer as over: its end was reported, or it was cancelled.
    func markOver() {
        progress.isOver = true
        leaveConnection()
        surroundings.news.waiting.ends(id.number)
    }
}

// MARK: - Calls from libcurl

extension CurlTransfer {
    /// - Returns: The answer for libcurl: the count, 0 to end the transfer, or CURL_WRITEFUNC_PAUSE.
    func received(_ bytes: UnsafeRawPointer, count: Int) -> Int {
        witness.handsOut()
        if progress.pause == .stopped { return easy.stopReading() }
        if progress.sink != .none, hasOwnConnection {
            progress.sink = .stopped
            return easy.stopReading()
        }
        note(.received)
        guard reader.received(bytes, count: count) else { return 0 }
        if reader.sinkWaits, progress.sink == .none { progress.sink = .waits }
        return count
    }

    /// Receives one header line, or several: libcurl 7.88 joins lines that it held back during a pause.
    /// - Returns: `false` to make libcurl end the transfer.
    func receivedHeader(_ text: UnsafeRawBufferPointer) -> Bool {
        if hop.isUnanswered {
            hop.isUnanswered = false
            surroundings.news.answered(request, on: hop.port, byHTTP1: text.starts(with: "HTTP/1".utf8))
        }
        note(.received)
        witness.handsOut()
        let reader = reader
        var rest = text
        while let start = rest.baseAddress, rest.count > 0 {
            let end = memchr(start, Int32(UInt8(ascii: "\n")), rest.count).map { UnsafeRawPointer($0) - start + 1 }
            let length = end ?? rest.count
            guard receivedLine(UnsafeRawBufferPointer(start: start, count: length), reader) else { return false }
            rest = UnsafeRawBufferPointer(start: start + length, count: rest.count - length)
        }
        return true
    }

    private func receivedLine(_ line: UnsafeRawBufferPointer, _ reader: ResponseReader) -> Bool {
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

    /// Called when the connection is ready and the request is about to be sent. If a reused connection closes without a
    /// response, libcurl sends the request again, up to five times, although the server may have processed it.
    /// - Returns: `false` if the request was sent without a response, and must not be sent again.
    func mayBeSent(localPort: Int32) -> Bool {
        surroundings.news.waiting.ends(id.number)
        guard witness.mayBeSent else { return false }
        if hop.isUnanswered {
            hop.repeats += 1
            hop.isLeftBehind = request.isIdempotent && surroundings.news.hasAnswered(on: hop.port)
            let most = hop.isLeftBehind ? Hop.mostRepeatsBesideAnswers : Hop.mostRepeats
            guard request.isIdempotent || witness.hasHeardDowngrade, hop.repeats <= most else {
                hop.hasGivenUp = true
                reader.refuse(.unanswered(host: outcome(CURLE_OK).host))
                return false
            }
            // The server has probably closed its other connections too, or wants none a second time.
            if isOnSerialConnection {
                hop.leavesConnection = TransferMessages.isUnanswered
                return false
            }
        } else if hasForeignInput(at: localPort) {
            hop.leavesConnection = TransferMessages.hasForeignInput
            return false
        }
        witness.connected(localPort: localPort)
        if request.scheme == .https { hop.record = ArrivingRecord(before: witness.arrivals?.received) }
        if !hop.isConnected, !hop.isUnanswered { hop.hasJoined = isOnUsedConnection }
        hop.isUnanswered = true
        hop.isConnected = true
        leaveConnection()
        if maySpeakHTTP2 { joinConnection(at: localPort) }
        note(.connected)
        return true
    }

    /// Whether libcurl has opened no connection for the hop.
    private var isOnUsedConnection: Bool { easy.number(CURLINFO_NUM_CONNECTS) == 0 }

    /// Whether the connection has served other requests, by HTTP/1.
    private var isOnSerialConnection: Bool {
        (!maySpeakHTTP2 || surroundings.news.isSerial(request)) && isOnUsedConnection
    }

    /// Whether the connection has bytes that answer no request, such as more of a body than was announced. They would be
    /// taken for the response to this one, which may be for another host behind the same proxy.
    private func hasForeignInput(at port: Int32) -> Bool {
        CurlFeatures.usesConnectionsWithInput && isOnSerialConnection && witness.hasMore(localPort: port)
    }

    private func joinConnection(at port: Int32) {
        hop.port = port
        surroundings.news.joined(port, isNew: !isOnUsedConnection)
    }

    private func leaveConnection() {
        surroundings.news.left(hop.port)
        hop.port = 0
    }

    var isAloneOnConnection: Bool { hop.port != 0 && surroundings.news.users[hop.port] == 1 }

    /// Enables libcurl's log. libcurl reports an event of a connection through only one of the transfers that share it.
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

    /// Lets the request open a connection, if it waits for one that is being made.
    func waitsNoLonger() {
        if hop.isConnected || hop.hasOpenedSocket { return }
        try? options.setWait(isSerial: true, easy)
    }

    /// Opens a socket with close-on-exec, which libcurl 7.88 leaves to the application.
    func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        surroundings.news.waiting.ends(id.number)
        return hop.openSocket(address, for: request.url.text, in: surroundings)
    }
}

// MARK: - Calls from the loop

extension CurlTransfer {
    var isPaused: Bool { progress.pause != nil }
    var isOver: Bool { progress.isOver }
    /// Number of cookies that servers have set, over all hops.
    var cookieCount: Int { progress.cookieCount }

    /// Appends the events since the last call.
    func takeNews(at now: Int64, into events: inout [TransferEvent]) {
        progress.isInNews = false
        guard !isOver else { return }
        switch hop.step {
        case .connected: progress.clocks.connected(hasBody: request.body.map { $0.count > 0 } ?? false, at: now)
        case .received:
            progress.clocks.received(at: now)
            hop.record.delivered()
        case nil: break
        }
        if wantsMark { witness.mark() }
        hop.step = nil
        if progress.sink != .none { progress.clocks.sinkBlocked(at: now) }
        guard !isPaused, reader.refusal == nil else { return }
        tell(&events)
    }

    /// True if the end of the connection may have to show whether the body is complete.
    private var wantsMark: Bool {
        if CurlFeatures.failsBrokenStreams { return false }
        return hop.step == .connected ? maySpeakHTTP2 : reader.isOverHTTP2 && !reader.isEndProven
    }

    var maySpeakHTTP2: Bool { request.scheme == .https || options.configuration.speaksHTTP2Plainly }

    /// Appends events for the head and the body received so far, unless they have been reported.
    private func tell(_ events: inout [TransferEvent]) {
        guard let head = reader.finalHead else { return }
        announce(head, &events) {
            var measures = progress.measures
            addHop(to: &measures)
            return measures.soFar
        }
        if reader.count > progress.reportedBytes {
            progress.reportedBytes = reader.count
            events.append(.received(id, Int64(reader.count)))
        }
        if let shown = progress.shownBytes, reader.count > shown {
            progress.shownBytes = reader.count
            events.append(.body(id, reader.bodySoFar))
        }
    }

    /// Shows the body in `.body` events from now on, beginning at once with the bytes received so far.
    func show() {
        progress.shownBytes = progress.shownBytes ?? 0
        joinNews()
    }

    /// Appends the final event. Before it, appends the response if it has not been reported, and the bytes of an
    /// incomplete body that have not been shown.
    func takeEnd(_ end: TransferEnd, into events: inout [TransferEvent]) {
        if case .success = end.result, let head = reader.finalHead {
            announce(head, &events) { progress.measures.soFar }
        }
        if case .failure = end.result, let shown = progress.shownBytes, reader.count > shown { tell(&events) }
        events.append(.finished(id, end))
    }

    private func announce(
        _ head: ResponseHead, _ events: inout [TransferEvent], measuring soFar: () -> TransferSoFar
    ) {
        guard !progress.isAnnounced else { return }
        progress.isAnnounced = true
        events.append(.response(id, head.response.status / 100 == 2 ? head : head.with(soFar())))
    }

    /// Returns whether a clock has expired, or when to look again.
    func look(at now: Int64) -> StageClocks.Look {
        if progress.clocks.isSending, let count = request.body?.count {
            let sent = easy.large(CURLINFO_SIZE_UPLOAD_T)
            if sent != hop.sentBytes { progress.clocks.sentSome(at: now) }
            if sent >= count { progress.clocks.sentAll(sent, at: now) }
            hop.sentBytes = sent
        }
        let look = progress.clocks.look(at: now) { movedBytes }
        guard case .expired(let kind) = look, isRecordArriving(kind, at: now) else { return look }
        return progress.clocks.look(at: now) { movedBytes }
    }

    private var movedBytes: Int64 {
        easy.large(CURLINFO_SIZE_UPLOAD_T) + easy.large(CURLINFO_SIZE_DOWNLOAD_T)
            + Int64(easy.number(CURLINFO_HEADER_SIZE))
    }

    /// Whether bytes of a TLS record arrive for this transfer, which is no silence: the clocks learn of them.
    /// - Parameter kind: The limit that has expired.
    private func isRecordArriving(_ kind: TransportError.Kind, at now: Int64) -> Bool {
        let clocks = progress.clocks
        guard kind == .stall || kind == .tooSlow, request.scheme == .https, hop.isConnected,
            hasOwnConnection || isAloneOnConnection, let last = clocks.lastHeard, let arrivals = witness.arrivals,
            let latest = hop.record.lastByte(
                arrivals, since: last,
                delivered: easy.large(CURLINFO_SIZE_DOWNLOAD_T) + Int64(easy.number(CURLINFO_HEADER_SIZE)),
                leastBytesPerSecond: clocks.leastBytesPerSecond,
                window: kind == .tooSlow ? clocks.speedWindow : nil, at: now)
        else { return false }
        progress.clocks.heard(at: latest, moved: movedBytes, now: now)
        return true
    }

    func setPriority(_ priority: Priority) {
        guard priority != progress.priority else { return }
        progress.priority = priority
        try? options.setPriority(priority, easy)
    }

    /// - Returns: Whether libcurl's multi handle must give up the transfer until it resumes.
    func pause(at now: Int64) -> Bool {
        progress.clocks.pause(at: now)
        progress.pause = !hop.isConnected ? .takenAway : hasOwnConnection ? .stopped : .hushed
        if progress.pause == .stopped { stop() }
        return progress.pause == .takenAway
    }

    /// Stops sending, and lets the first bytes of the body stop reading. With CURLPAUSE_RECV, libcurl 7.88 would still
    /// read once more if the transfer has just resumed, and hold back a header until after its body was decompressed,
    /// so that `tap` would come too late.
    private func stop() {
        easy.pause(progress.sink == .stopped ? CURLPAUSE_ALL : CURLPAUSE_SEND)
    }

    /// - Returns: Whether the transfer must be added to libcurl's multi handle again.
    func resume(at now: Int64) -> Bool {
        progress.clocks.resume(at: now)
        let wasTakenAway = progress.pause == .takenAway
        let wasStopped = progress.pause == .stopped
        progress.pause = nil
        if wasStopped { readOn() }
        joinNews()
        return wasTakenAway
    }

    /// Makes libcurl read again, unless the sink is blocked. Bytes that libcurl held back arrive within this call.
    private func readOn() {
        if progress.sink == .none {
            easy.pause(CURLPAUSE_CONT)
        } else {
            progress.sink = .stopped
        }
    }

    /// Keeps libcurl's result for the hop if the transfer is paused or its sink is blocked.
    /// - Returns: Whether the result was kept.
    func holdIfPaused(_ code: CURLcode) -> Bool {
        guard isPaused || waitsForSink else { return false }
        progress.heldCode = code
        return true
    }

    /// Returns the result for the hop now that the transfer goes on; `nil` if the hop is not over.
    func takeHeldCode() -> CURLcode? {
        defer { progress.heldCode = nil }
        // libcurl does not end a transfer when a callback refuses bytes that it had held back.
        return progress.heldCode ?? (reader.refusal == nil ? nil : CURLE_WRITE_ERROR)
    }

    /// True if no other transfer shares the connection, as over HTTP/1. The version is known once there is a response.
    private var hasOwnConnection: Bool {
        switch options.configuration.httpVersion {
        case .http1_0, .http1_1: true
        case .http2, .http2PriorKnowledge: false
        case .standard, .http3: easy.httpVersion > 0 ? easy.httpVersion < 20 : request.scheme != .https
        }
    }
}

// MARK: - Blocked sinks

extension CurlTransfer {
    var waitsForSink: Bool { progress.sink != .none }

    /// The sink's descriptor, to be polled for writability.
    var sinkDescriptor: Int32 { request.sink?.descriptor ?? -1 }

    /// Writes waiting bytes after the sink has become writable. Bytes that libcurl held back arrive within this call,
    /// and may block the sink again.
    /// - Returns: Whether no bytes wait any more, because the sink has taken all of them or has failed.
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
    var bytesNotSunk: Int { request.sink?.waitingBytes ?? 0 }
}
