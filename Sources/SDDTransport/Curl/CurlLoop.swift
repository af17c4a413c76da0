internal import CCurl
internal import SDDBase

/// The loop of a network thread: takes commands, lets libcurl work, delivers events, sleeps. The only file that calls
/// curl_multi_*, except for `CurlThread`, which creates the handle, and the wake-up in `LoopLine`. Owns the multi
/// handle and every transfer that its thread was told to start. thread: sdd-net
final class CurlLoop {
    private let thread: NetworkThreads
    private let multi: UnsafeMutableRawPointer
    private let line: LoopLine
    private let surroundings: CurlTransfer.Surroundings
    private let delegate: any TransportDelegate
    private let time: any TimeSource

    /// The transfers, by the number of their ids.
    private var running = NumberMap<CurlTransfer>()
    private var headers: HeaderList?
    // These two arrays are kept so that their storage is reused.
    private var commands: [TransportCommand] = []
    private var events: [TransferEvent] = []
    private var looks = LookAgenda()
    private var sinks = SinkLine()
    /// The time at which the delegate wants to be called again, in microseconds of the monotonic clock.
    private var deadline = Int64.max
    private var cache: ConnectionCache
    private var secondLooks = SecondLooks()

    init(
        _ thread: NetworkThreads, multi: LoopLine.Multi, line: LoopLine, options: CurlOptions,
        delegate: any TransportDelegate,
        watch: TurnWatch, time: any TimeSource
    ) {
        self.thread = thread
        self.multi = multi.raw
        self.line = line
        surroundings = .init(options: options, time: time, watch: watch)
        self.delegate = delegate
        self.time = time
        cache = ConnectionCache(options.configuration)
        set(CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        set(CURLMOPT_MAX_TOTAL_CONNECTIONS, options.configuration.perThread(options.configuration.maxConnections))
        set(CURLMOPT_MAX_HOST_CONNECTIONS, Int(options.configuration.maxConnectionsPerHost))
        setCacheSize()
    }

    private var options: CurlOptions { surroundings.options }
    private var news: CurlTransfer.News { surroundings.news }
    private var watch: TurnWatch { surroundings.watch }

    func run() {
        while line.turnBegins() {
            takeCommands()
            // The events may have made the delegate issue more commands, which need not wait for a wake-up.
            repeat { transferData() } while handOver() && takeCommands() && !line.isStopped
            line.sleepUnlessWoken(sleep)
        }
        close()
    }

    private func close() {
        watch.turnBegins(deadline: .max)
        defer { watch.turnEnds() }
        for transfer in running.values { _ = curl_multi_remove_handle(multi, transfer.easy.raw) }
        running = NumberMap()
        sinks.removeAll()
        news.transfers = []
        news.deaf = []
        line.close()
        curl_multi_cleanup(multi)
        saveCookies()
    }

    private func saveCookies() {
        guard options.cookies.isLeftByLast() else { return }
        do throws(TransportError) { try options.cookies.save() } catch {
            note(TransferID(0), .error, error.message)
            _ = handOver()
        }
    }

    private func set(_ option: CURLMoption, _ value: Int) { _ = sddc_multi_set_long(multi, option, value) }

    private func setCacheSize() { set(CURLMOPT_MAXCONNECTS, cache.connections) }

    /// Logs a message. The text is built only if the log level requests it.
    private func note(_ id: TransferID, _ level: LogLevel, _ text: @autoclosure () -> String) {
        if options.configuration.logs() >= level { events.append(.message(id, level, text())) }
    }

    private func warnIfUnverified(_ id: TransferID, _ request: HTTPRequest) {
        guard request.scheme == .https, !request.options.values.verifiesCertificate else { return }
        note(id, .warning, TransferMessages.unverified(request))
    }
}

// MARK: - Commands

extension CurlLoop {
    /// - Returns: Whether there were any commands.
    @discardableResult
    private func takeCommands() -> Bool {
        deadline = delegate.takeCommands(into: &commands, for: thread)
        guard !commands.isEmpty else { return false }
        secondLooks.somethingCame()
        let now = time.monotonicMicroseconds()
        for command in commands {
            switch command {
            case .start(let id, let request, let priority): start(id, request, priority, at: now)
            case .cancel(let id): cancel(id)
            case .pause(let id): pause(id, at: now)
            case .resume(let id): resume(id, at: now)
            case .setPriority(let id, let priority): running[id.number]?.setPriority(priority)
            case .show(let id): running[id.number]?.show()
            }
        }
        commands.removeAll(keepingCapacity: true)
        return true
    }

    private func start(_ id: TransferID, _ request: HTTPRequest, _ priority: Priority, at now: Int64) {
        Trace.step("transfer")
        var request = request
        request.dropUselessResumePoint()
        options.knownSpaces.authorize(&request)
        let transfer: CurlTransfer
        do throws(TransportError) {
            guard let headers = list(for: request) else { throw .notStarted(CURLE_OUT_OF_MEMORY) }
            transfer = try CurlTransfer(
                id, request, priority: priority, headers: headers, in: surroundings, at: now)
        } catch {
            return refuse(id, error)
        }
        note(id, .debug, TransferMessages.start(request))
        warnIfUnverified(id, request)
        if !request.isIdempotent { listen(for: transfer) }
        running[id.number] = transfer
        add(transfer, at: now)
        if cache.sees(transfers: running.count) { setCacheSize() }
    }

    /// Registers a request that must not be sent twice. Until it ends, every transfer that may use HTTP/2 reads
    /// libcurl's log, because any of them may be the one whose log reports on the connection. Transfers that already
    /// run are told once, however many such requests begin.
    private func listen(for transfer: CurlTransfer) {
        transfer.isListener = true
        news.listeners += 1
        for id in news.deaf { running[id.number]?.listen() }
        news.deaf.removeAll(keepingCapacity: true)
    }

    /// Adds a transfer to libcurl's multi handle.
    private func add(_ transfer: CurlTransfer, at now: Int64) {
        guard curl_multi_add_handle(multi, transfer.easy.raw) == CURLM_OK else {
            return finish(transfer, transfer.endWithout(.notStarted(CURLE_FAILED_INIT)))
        }
        schedule(transfer, at: now)
    }

    private func refuse(_ id: TransferID, _ error: TransportError) {
        note(id, .info, TransferMessages.failure(error))
        var error = error
        error.isUnsent = true
        events.append(.finished(id, TransferEnd(result: .failure(error))))
    }

    private func list(for request: HTTPRequest) -> HeaderList? {
        if let headers, headers.serves(request) { return headers }
        if request.needsOwnHeaders { return HeaderList(request) }
        headers = HeaderList(request)
        return headers
    }

    private func cancel(_ id: TransferID) {
        guard let transfer = running[id.number] else { return }
        running[id.number] = nil
        note(id, .debug, TransferMessages.cancelled)
        free(of: transfer)
    }

    private func pause(_ id: TransferID, at now: Int64) {
        guard let transfer = running[id.number], !transfer.isPaused else { return }
        if transfer.pause(at: now) { _ = curl_multi_remove_handle(multi, transfer.easy.raw) }
    }

    private func resume(_ id: TransferID, at now: Int64) {
        guard let transfer = running[id.number], transfer.isPaused else { return }
        if transfer.resume(at: now) {
            add(transfer, at: now)
        } else {
            goOnReading(transfer, at: now)
        }
    }

    /// Continues a transfer that was paused or blocked by its sink: concludes the hop if libcurl has ended it
    /// meanwhile, unless the sink blocks it again.
    private func goOnReading(_ transfer: CurlTransfer, at now: Int64) {
        guard !transfer.waitsForSink, let code = transfer.takeHeldCode() else { return schedule(transfer, at: now) }
        takeNews(at: now)
        conclude(transfer, code)
    }
}

// MARK: - One turn

extension CurlLoop {
    private func transferData() {
        guard !running.isEmpty else { return }
        var count: Int32 = 0
        watch.turnBegins(deadline: deadline)
        let code = curl_multi_perform(multi, &count)
        watch.turnEnds()
        guard code == CURLM_OK else { return abandonAll() }
        let now = time.monotonicMicroseconds()
        if !sinks.isEmpty { flushSinks(at: now) }
        takeNews(at: now)
        reap()
        lookAtClocks(at: now)
    }

    private func flushSinks(at now: Int64) {
        for transfer in sinks.ready() where transfer.flushSink(at: now) {
            sinks.remove(transfer.id)
            if !transfer.isPaused { goOnReading(transfer, at: now) }
        }
    }

    private func takeNews(at now: Int64) {
        for transfer in news.transfers {
            transfer.takeNews(at: now, into: &events)
            if transfer.isOver { continue }
            schedule(transfer, at: now)
            if transfer.waitsForSink { sinks.add(transfer) }
        }
        news.transfers.removeAll(keepingCapacity: true)
        if !news.newSerial.isEmpty { releaseWaiting() }
    }

    /// Lets the requests to origins that have just shown to speak HTTP/1 open connections of their own.
    private func releaseWaiting() {
        for transfer in running.values where news.newSerial.contains(transfer.request.hostKey) {
            transfer.waitsNoLonger()
        }
        news.newSerial.removeAll()
        news.waiting.takeUp(in: multi)
    }

    private func reap() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            // Safety: the record is good until the handle is removed, which is what `conclude` does.
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let transfer = CurlTransfer.owner(of: easy)
            else { continue }
            let code = message.pointee.data.result
            if !transfer.holdIfPaused(code) { conclude(transfer, code) }
        }
    }

    private func conclude(_ transfer: CurlTransfer, _ code: CURLcode) {
        switch transfer.conclude(code) {
        case .ended(let end): finish(transfer, end)
        case .redirected(let request):
            note(transfer.id, .debug, TransferMessages.redirect(to: request))
            warnIfUnverified(transfer.id, request)
            goOn(transfer, request)
        case .startsOver(let request, let why):
            note(transfer.id, .debug, why)
            goOn(transfer, request)
        case .asksAgain(let request):
            note(transfer.id, .debug, TransferMessages.asksAgain)
            goOn(transfer, request)
        }
    }

    /// Starts the next hop of a transfer.
    private func goOn(_ transfer: CurlTransfer, _ request: HTTPRequest) {
        _ = curl_multi_remove_handle(multi, transfer.easy.raw)
        let isAlike = transfer.request.sendsHeaders(alike: request)
        let now = time.monotonicMicroseconds()
        do throws(TransportError) {
            let headers = isAlike ? nil : HeaderList(request)
            guard isAlike || headers != nil else { throw .notStarted(CURLE_OUT_OF_MEMORY) }
            try transfer.goOn(request, headers: headers, at: now)
        } catch {
            return finish(transfer, transfer.endWithout(error))
        }
        add(transfer, at: now)
    }

    private func finish(_ transfer: CurlTransfer, _ end: TransferEnd) {
        running[transfer.id.number] = nil
        noteEnd(of: transfer, end)
        transfer.takeEnd(end, into: &events)
        if transfer.cookieCount > 0 {
            options.cookies.changedByServer()
            options.cookies.added(transfer.cookieCount)
        }
        free(of: transfer)
        if case .success = end.result, end.response?.status ?? 0 < 400 { surroundings.kept.keep(transfer.easy) }
    }

    private func noteEnd(of transfer: CurlTransfer, _ end: TransferEnd) {
        switch end.result {
        case .success(let body): note(transfer.id, .debug, TransferMessages.success(end, bytes: body.count))
        case .failure(let error): note(transfer.id, .info, TransferMessages.failure(error))
        }
    }

    private func free(of transfer: CurlTransfer) {
        _ = curl_multi_remove_handle(multi, transfer.easy.raw)
        // A redirect may have turned the request into one that may be sent twice, so its method does not tell.
        if transfer.isListener { news.listeners -= 1 }
        if !news.deaf.isEmpty { news.deaf.remove(transfer.id) }
        transfer.markOver()
        if !sinks.isEmpty { sinks.remove(transfer.id) }
        if running.isEmpty { looks.removeAll() }
    }

    private func schedule(_ transfer: CurlTransfer, at now: Int64) {
        let time: Int64
        switch transfer.look(at: now) {
        case .later(let look): time = look
        case .expired: time = now
        }
        transfer.nextLook = looks.plan(transfer.id, at: time, planned: transfer.nextLook) {
            running[$0.number]?.nextLook == $1
        }
    }

    private func lookAtClocks(at now: Int64) {
        while let id = looks.popDue(at: now, counts: { running[$0.number]?.nextLook == $1 }) {
            guard let transfer = running[id.number] else { continue }
            transfer.nextLook = .max
            switch transfer.look(at: now) {
            case .later: schedule(transfer, at: now)
            case .expired(let kind): finish(transfer, transfer.endOfPatience(kind))
            }
        }
    }

    /// Ends all transfers because libcurl itself has failed, which happens only without memory. Ending them is better
    /// than a loop that spins.
    private func abandonAll() {
        for transfer in running.values { finish(transfer, transfer.endWithout(.notStarted(CURLE_OUT_OF_MEMORY))) }
    }

    /// Delivers the collected events to the delegate.
    /// - Returns: Whether there were any events.
    private func handOver() -> Bool {
        guard !events.isEmpty else { return false }
        delegate.handle(events, of: thread)
        events.removeAll(keepingCapacity: true)
        return true
    }

    private func sleep() {
        // The time is rounded up, because a poll that ends too early would be followed by polls of 0 ms.
        let longest = secondLooks.longestSleep(
            hasHTTP2: !news.users.isEmpty, hasWaiting: !news.waiting.isEmpty)
        let end = min(looks.next { running[$0.number]?.nextLook == $1 }, deadline)
        let began = time.monotonicMicroseconds()
        let wait = end == .max ? longest : (end - began) / 1000 + 1
        var polled = sinks.isEmpty ? [] : sinks.polled
        let limit = max(0, min(wait, longest))
        watch.sleepBegins()
        let code = curl_multi_poll(multi, &polled, UInt32(polled.count), Int32(clamping: limit), nil)
        let slept = time.monotonicMicroseconds() - began
        watch.sleepEnds(after: slept)
        // A sleep that was cut short for a clock counts as neither.
        if slept < limit * 1000 {
            secondLooks.somethingCame()
        } else if limit == longest {
            secondLooks.nothingCame()
            news.waiting.takeUp(in: multi)
        }
        if code != CURLM_OK {
            abandonAll()
            _ = handOver()
        }
    }
}
