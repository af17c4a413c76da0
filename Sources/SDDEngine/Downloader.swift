package import SDDBase
package import SDDCoders
package import SDDTransport

/// A downloader: keeps the `DownloadTable` under its lock and runs what the table decides against the
/// transport, the decoders and the delivery, after giving the lock back. Any thread.
package final class Downloader: Sendable {
    package typealias Failure = DeliveryFailure
    typealias Effect = DownloadTable<Subscriber>.Effect

    let table: Monitor<DownloadTable<Subscriber>>
    private let transport: any Transport
    private let plugins: PluginTransfers
    let delivery: Delivery
    private let decoders: Monitor<DecodePool?>
    /// The host's, asked before those of the process.
    package let coders: HostCoderList
    private let registry: CoderRegistry
    private let decodeAccount: DecodeAccount
    /// That of requests whose ends are told at once.
    private let promptAccount: DecodeAccount
    /// Those whose stages are requests of this downloader.
    let loaders = LoaderList()
    /// What is the host's is kept until nothing can ask for it any more.
    private let kept = Monitor<AnyObject?>(nil)
    private let time = SystemTime()
    package let seat = TokenSeat()
    package let configuration: DownloaderConfiguration

    private init(
        _ configuration: DownloaderConfiguration, transport: any Transport, bell: EventBell?,
        numbers: @escaping @Sendable () -> UInt64
    ) {
        self.configuration = configuration
        self.transport = transport
        plugins = PluginTransfers(maxBodyBytes: configuration.transport.maxBodyBytes)
        coders = HostCoderList()
        registry = .builtIn.asking([coders, .process])
        decodeAccount = DecodeMemory.ofProcess.makeAccount()
        promptAccount = DecodeMemory.ofProcess.makeAccount(keepsUndelivered: false)
        table = Monitor(
            DownloadTable(
                rules: DownloadTable.Rules(configuration), registry: registry,
                room: RoomLines(decodeAccount, prompt: promptAccount), seed: UInt64.random(in: 1...UInt64.max),
                numbers: numbers))
        delivery = Delivery(bell: bell, logs: configuration.logSwitch) { isBusy in
            if isBusy { SpareMemory.beginUse() } else { SpareMemory.endUse() }
        }
        decoders = Monitor(nil)
        seat.join(self)
        setLog(.none, nil)
    }

    /// Makes a downloader and starts its threads; all of them or, with an error, none.
    /// - Parameter numbers: where those of transfers come from; each is given out once in the process.
    package static func make(
        _ configuration: DownloaderConfiguration, transport: any Transport,
        numbers: @escaping @Sendable () -> UInt64 = { TokenSeat.makeSerial() }
    ) throws(CreationFailure) -> Downloader {
        let bell: EventBell?
        do throws(SystemError) {
            if case .host = configuration.delivery { bell = try EventBell() } else { bell = nil }
        } catch {
            throw .noResources("The system gave no descriptor for events.")
        }
        let downloader = Downloader(configuration, transport: transport, bell: bell, numbers: numbers)
        try downloader.startThreads()
        return downloader
    }

    private func startThreads() throws(CreationFailure) {
        do throws(SystemError) {
            let pool = try makeDecodePool()
            decoders.withLock { $0 = pool }
        } catch {
            throw .noResources("The system gave no threads for decoding.")
        }
        do throws(TransportError) {
            try transport.start(delegate: self)
        } catch {
            endDecoders()
            throw CreationFailure(error)
        }
        guard case .thread(let start, let stop) = configuration.delivery else { return }
        do throws(SystemError) {
            try delivery.startThread(hooks: .init(start: start, stop: stop)) { [self] in joinThreads() }
        } catch {
            transport.stop()
            joinThreads()
            throw .noResources("The system gave no thread for callbacks.")
        }
    }

    private func makeDecodePool() throws(SystemError) -> DecodePool {
        let client = DecodePool.Client(
            next: { [unowned self] in
                change { table, now, effects in table.decoderAsks(at: now, &effects) }
            },
            decoded: { [unowned self] id, outcome, facts in
                change { table, now, effects in table.decoded(id, outcome, facts, at: now, &effects) }
            },
            advanced: { [unowned self] id, outcome in
                change { table, now, effects in table.advanced(id, outcome, at: now, &effects) }
            },
            processed: { [unowned self] id, outcome in
                change { table, now, effects in table.processed(id, outcome, at: now, &effects) }
            })
        return try DecodePool(
            threads: configuration.decodeThreads, registry: registry,
            limits: configuration.decodeLimits,
            accounts: [decodeAccount, promptAccount], client: client)
    }
}

/// Why a downloader cannot be made.
package enum CreationFailure: Error, Equatable {
    /// The system gave no thread, descriptor or memory: a sentence.
    case noResources(String)
    /// libcurl was built without what the configuration asks for: a sentence.
    case unsupported(String)
    /// libcurl does not take a value of the configuration, likewise.
    case badConfiguration(String)

    fileprivate init(_ error: TransportError) {
        switch error.kind {
        case .unsupported: self = .unsupported(error.message)
        case .badConfiguration: self = .badConfiguration(error.message)
        default: self = .noResources(error.message)
        }
    }
}

extension DownloadTable.Rules {
    fileprivate init(_ configuration: DownloaderConfiguration) {
        maxConcurrent = configuration.maxConcurrentDownloads
        maxPerHost = configuration.maxConcurrentPerHost
        reservedForUrgent = configuration.reservedUrgentSlots
        order = configuration.order.ofQueue
        ageing = min(configuration.ageingMilliseconds, 1 << 40) * 1000
        progressFraction = configuration.minProgressInterval
        progressMicroseconds = min(configuration.minProgressMilliseconds, 1 << 40) * 1000
        ahead.streams = max(1, configuration.decodeThreads)
        ahead.previewMicroseconds = min(configuration.minPreviewMilliseconds, 1 << 40) * 1000
        ahead.previewBytes = configuration.minPreviewBytes
        ahead.previewScans = configuration.minPreviewScans
        decodeLimits = configuration.decodeLimits
        minHostInterval = min(configuration.minHostIntervalMilliseconds, 1 << 40) * 1000
        retry.maxAttempts = configuration.maxAttempts
        retry.budget = configuration.retryBudget < 0 ? nil : Int(configuration.retryBudget)
        retry.delay = min(configuration.retryDelayMilliseconds, 1 << 40) * 1000
        retry.maxDelay = min(configuration.maxRetryDelayMilliseconds, 1 << 40) * 1000
    }
}

// MARK: - Requests

extension Downloader: TokenOwner {
    /// Accepts a request; its receiver will hear of its end once.
    /// - Parameters:
    ///   - request: or why it cannot be: that arrives as its end, too.
    ///   - isImmediate: the receiver is not the host's: it is told at once, on the deciding thread, instead of
    ///     where the downloader delivers.
    /// - Returns: its token, or nil when the downloader is being destroyed: then nobody will hear anything.
    package func submit(
        _ request: Result<DownloadRequest, DownloadError>, receiver: any Receiver, isImmediate: Bool = false
    ) -> UInt64? {
        let subscriber = Subscriber(token: seat.makeToken(), receiver: receiver, isImmediate: isImmediate)
        let isAccepted = change { table, now, effects in
            guard !table.isClosed else { return false }
            delivery.accepted()
            switch request {
            case .success(var request):
                request.isPrompt = isImmediate
                table.submitted(request, token: subscriber.token, subscriber: subscriber, at: now, &effects)
            case .failure(let error):
                table.refused(table.isClosing ? .closed : error, subscriber: subscriber, at: now, &effects)
            }
            return true
        }
        return isAccepted ? subscriber.token : nil
    }

    package func cancel(_ token: UInt64) -> Cancelled? {
        let isCancelled = change { table, now, effects in table.cancelled(token, at: now, &effects) }
        return isCancelled ? Cancelled() : nil
    }

    package func cancelAll() {
        change { table, now, effects in table.cancelledAll(at: now, &effects) }
        loaders.cancelledAll()
    }

    package func setPriority(_ priority: Priority, of token: UInt64) -> Bool {
        change { table, now, effects in table.prioritySet(priority, of: token, at: now, &effects) }
    }

    /// No more requests are taken; those that are there are cancelled, or end as they would.
    package func close(cancels: Bool) {
        change { table, now, effects in table.closing(cancels: cancels, at: now, &effects) }
        if cancels { loaders.cancelledAll() }
    }

    /// Ends every request, delivers what is owed, ends the threads. Waits for all of that, unless called
    /// inside a callback: then it happens after that callback. Once.
    package func destroy() {
        change { table, now, effects in table.closed(at: now, &effects) }
        loaders.cancelledAll()
        transport.stop()
        decoders.withLock { $0?.stop() }
        delivery.finish { joinThreads() }
    }

    /// The process is about to exit: libcurl and OpenSSL, whose own exit handlers free what they share
    /// among threads, must not be at work then. No callback is owed any more. Waits, but not for long.
    package func endNetworkForExit(milliseconds: Int64) {
        transport.stop()
        transport.join(milliseconds: milliseconds)
    }

    /// Once, on a thread that is none of them.
    private func joinThreads() {
        transport.join()
        plugins.cancelAll()
        endDecoders()
        coders.removeAll()
        let kept = kept.withLock { kept in
            defer { kept = nil }
            return kept
        }
        // Without the lock: it may hold the last reference.
        withExtendedLifetime(kept) {}
    }

    /// Keeps what the host has given, and is to have back when all threads have ended.
    package func keepUntilTheEnd(_ object: AnyObject) { kept.withLock { $0 = object } }

    private func endDecoders() {
        let pool = decoders.withLock { pool in
            defer { pool = nil }
            return pool
        }
        pool?.stop()
        pool?.join()
    }
}

// MARK: - Effects

extension Downloader {
    /// Tells the table of an event, then runs what it decided, without the lock.
    /// - Parameter wakesTransport: false on sdd-net itself, which asks again by itself.
    func change<Outcome>(
        wakesTransport: Bool = true,
        _ event: (inout DownloadTable<Subscriber>, Int64, inout [Effect]) -> Outcome
    ) -> Outcome {
        var effects: [Effect] = []
        let (outcome, wakes, ticket, errands) = table.withLock { table in
            // Under the lock, so that the table sees no time before one it has seen.
            let outcome = event(&table, time.monotonicMicroseconds(), &effects)
            return (outcome, table.takeWakes(), effects.isEmpty ? 0 : table.nextTicket(), table.takeErrands())
        }
        // Before anybody hears of it, what is kept is there, and what is to be asked meanwhile is under way.
        if !errands.isEmpty { run(errands.filter { !$0.asks }) }
        // The host's part first: once a decode thread has its work, the end may be queued at any moment, and no
        // progress may come behind it.
        if ticket > 0 { delivery.enqueue(effects, ticket: ticket) }
        if wakes.decoders > 0 {
            let pool = decoders.withLock { $0 }
            pool?.wake(for: wakes.decoders)
        }
        if wakes.transport, wakesTransport { transport.wake() }
        // At the end, for what is known is answered at once, and is another event.
        if !errands.isEmpty { run(errands.filter { $0.asks }) }
        return outcome
    }
}

// MARK: - The transport's side

/// Thread: sdd-net.
extension Downloader: TransportDelegate {
    package func takeCommands(into commands: inout [TransportCommand]) -> Int64 {
        // A local copy, for the lock's closure cannot capture what the caller lends.
        var taken: [TransportCommand] = []
        let now = time.monotonicMicroseconds()
        let ended = plugins.lookAtClocks(at: now).ended
        if !ended.isEmpty { handle(ended) }
        let deadline = change(wakesTransport: false) { table, now, effects in
            table.transportAsks(for: &taken, at: now, &effects)
        }
        plugins.take(from: &taken)
        commands += taken
        // Those that have just begun have clocks too. At the time that was looked at before, no more end.
        return min(deadline, plugins.lookAtClocks(at: now).next)
    }

    package func handle(_ events: [TransferEvent]) {
        change(wakesTransport: false) { table, now, effects in
            for event in events { table.transportReports(event, at: now, &effects) }
        }
    }
}

// MARK: - The host's own transports

/// Answers of a transport of the host's. Any thread.
extension Downloader {
    package func pluginResponded(
        _ id: UInt64, status: Int32, fields: ResponseFields, expectedBytes: Int64
    ) throws(PluginTransfers.Refusal) {
        answered(
            try plugins.responded(TransferID(id), status: status, fields: fields, expectedBytes: expectedBytes))
    }

    /// - Returns: false when that is more than max_body_bytes, and the transfer has ended.
    package func pluginReceived(_ id: UInt64, _ data: UnsafeRawBufferPointer) throws(PluginTransfers.Refusal) -> Bool {
        let (events, isTooLarge) = try unsafe plugins.received(TransferID(id), data)
        answered(events)
        return !isTooLarge
    }

    package func pluginFinished(_ id: UInt64, _ error: TransportError?) throws(PluginTransfers.Refusal) {
        answered(try plugins.finished(TransferID(id), error))
    }

    private func answered(_ events: [TransferEvent]) {
        change { table, now, effects in
            for event in events { table.transportReports(event, at: now, &effects) }
        }
        if plugins.needsTurn { transport.wake() }
    }
}

// MARK: - Rules

extension Downloader {
    package func setMaxConcurrentDownloads(_ count: Int) { setRules { $0.maxConcurrent = count } }
    package func setMaxConcurrentPerHost(_ count: Int) { setRules { $0.maxPerHost = count } }
    package func setMinHostInterval(milliseconds: Int64) {
        setRules { $0.minHostInterval = min(milliseconds, 1 << 40) * 1000 }
    }
    package func setReservedUrgentSlots(_ count: Int) { setRules { $0.reservedForUrgent = count } }
    package func setOrder(_ order: DownloaderConfiguration.Order) { setRules { $0.order = order.ofQueue } }

    private func setRules(_ set: (inout DownloadTable<Subscriber>.Rules) -> Void) {
        change { table, now, effects in table.rulesChanged(at: now, &effects, set) }
    }

    package func setOffline(_ isOffline: Bool) { setRules { $0.isOffline = isOffline } }

    package func setSuspended(_ isSuspended: Bool) {
        change { table, now, effects in table.suspended(isSuspended, at: now, &effects) }
    }

    package var isSuspended: Bool { table.withLock { $0.isSuspended } }

    /// - Parameter milliseconds: of grace; negative: without end.
    package func enterBackground(milliseconds: Int64) {
        let grace = milliseconds < 0 ? -1 : min(milliseconds, 1 << 40) * 1000
        change { table, now, effects in table.enteredBackground(grace: grace, at: now, &effects) }
    }

    package func enterForeground() {
        change { table, now, effects in table.enteredForeground(at: now, &effects) }
    }

    /// The configuration with what has been changed since.
    package var currentConfiguration: DownloaderConfiguration {
        var current = configuration
        let rules = table.withLock { $0.rules }
        current.maxConcurrentDownloads = rules.maxConcurrent
        current.maxConcurrentPerHost = rules.maxPerHost
        current.minHostIntervalMilliseconds = rules.minHostInterval / 1000
        current.reservedUrgentSlots = rules.reservedForUrgent
        current.order = rules.order == .fifo ? .fifo : .lifo
        return current
    }
}

// MARK: - Questions

extension Downloader {
    package var currentDownloadCount: Int { table.withLock { $0.currentDownloadCount } }
    package var statistics: Statistics {
        var statistics = table.withLock { $0.currentStatistics }
        statistics.undeliveredBytes = Int64(delivery.undeliveredBytes)
        statistics.decodeMemoryBytes = Int64(decodeAccount.used &+ promptAccount.used)
        return statistics
    }
    package var cookies: CookieJar? { transport.cookies }

    package func information(on token: UInt64) -> RequestInformation? {
        table.withLock { table in
            table.handler(of: token).map { RequestInformation($0.job, $0.handler, at: time.monotonicMicroseconds()) }
        }
    }
}

// MARK: - Listeners

extension Downloader {
    package func setObserver(_ observer: (any Observer)?) {
        delivery.setObserver(observer)
        table.withLock { $0.observes = observer != nil }
    }

    /// With no observer what the environment says is written to standard error.
    package func setLog(_ level: LogLevel, _ observer: (any Observer)?) {
        let level = observer == nil ? StandardErrorLog.level : level
        delivery.setLogObserver(observer)
        table.withLock { $0.logs = level }
        configuration.logSwitch.level = level
    }
}

// MARK: - Delivery

/// Why a host's thread got no events.
package enum DeliveryFailure: Error {
    case busy, wouldDeadlock, timedOut, closed, wrongMode
}

extension Downloader {
    package var isHostDriven: Bool { delivery.isHostDriven }
    /// -1 when the downloader delivers on a thread of its own.
    package var eventDescriptor: Int32 { delivery.eventDescriptor }

    /// Calls the callbacks of events that wait, at most `max`, 0 meaning all.
    package func dispatch(max: Int) throws(Failure) -> Int {
        guard isHostDriven else { throw .wrongMode }
        return try delivery.dispatch(max: max) { joinThreads() }
    }

    /// Gives events that wait to `take`, and calls nothing else. What `take` returns is kept until the next call.
    package func drain(max: Int, take: (DeliveredEvent) -> AnyObject?) throws(Failure) -> Int {
        guard isHostDriven else { throw .wrongMode }
        return try delivery.drain(max: max, take: take) { joinThreads() }
    }

    package func waitForEvent(milliseconds: Int64) throws(Failure) {
        guard isHostDriven else { throw .wrongMode }
        try delivery.waitForEvent(milliseconds: milliseconds) { joinThreads() }
    }

    package func waitUntilIdle(milliseconds: Int64) throws(Failure) {
        try delivery.waitUntilIdle(milliseconds: milliseconds, time: time) { joinThreads() }
    }
}
