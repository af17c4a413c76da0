package import SDDBase
package import SDDCoders
package import SDDTransport

/// A downloader. Keeps the `DownloadTable` under its lock, and applies the table's decisions to the transport, the
/// decoders and the delivery after releasing the lock. Callable from any thread.
package final class Downloader: Sendable {
    package typealias Failure = DeliveryFailure

    private let table: Monitor<DownloadTable<Listener>>
    let transport: any Transport
    let appTransfers: AppTransfers
    let delivery: Delivery
    let decoders: Monitor<DecodePool?>
    private let desk = DecodeDesk()
    /// The application's coders of this downloader, tried before those of the process.
    package let coders: AppCoderList
    package let registry: CoderRegistry
    private let decodeAccount: DecodeAccount
    /// The memory account of requests whose ends are told immediately.
    private let promptAccount: DecodeAccount
    /// The memory account of what idle helpers keep.
    private let helperAccount: DecodeAccount
    /// The loaders whose stages are requests of this downloader.
    let loaders = LoaderList()
    let gate = DownloaderGate()
    /// How far the table's decisions to store have been carried out.
    let stores: StoreProgress
    private let inbox = SubmissionInbox()
    /// An object of the application, kept until all threads have ended.
    let kept = Monitor<AnyObject?>(nil)
    private let time = SystemTime()
    package let seat = TokenSeat()
    package let configuration: DownloaderConfiguration

    private init(
        _ configuration: DownloaderConfiguration, transport: any Transport, bell: EventBell?,
        appTime: any TimeSource, numbers: @escaping @Sendable () -> UInt64
    ) {
        self.configuration = configuration
        self.transport = transport
        appTransfers = AppTransfers(maxBodyBytes: configuration.transport.maxBodyBytes, time: appTime)
        coders = AppCoderList()
        let helperAccount = DecodeMemory.ofProcess.makeAccount()
        self.helperAccount = helperAccount
        registry = configuration.registry(of: [coders, .process], helperAccount)
        decodeAccount = DecodeMemory.ofProcess.makeAccount()
        promptAccount = DecodeMemory.ofProcess.makeAccount(keepsUndelivered: false)
        let table = DownloadTable<Listener>(
            rules: DownloadTable.Rules(configuration), registry: registry,
            room: RoomLines(decodeAccount, prompt: promptAccount), seed: UInt64.random(in: 1...UInt64.max),
            numbers: numbers,
            makeListener: { token, callbacks in Listener(token: token, callbacks: callbacks) })
        stores = table.stores.progress
        self.table = Monitor(table, rank: .table)
        delivery = Delivery(bell: bell, logs: configuration.logSwitch) { isBusy in
            if isBusy { SpareMemory.beginUse() } else { SpareMemory.endUse() }
        }
        decoders = Monitor(nil)
        seat.join(self)
        setLog(.none, nil)
    }

    /// Makes a downloader and starts its threads. If one thread fails to start, the others are stopped again.
    /// - Parameters:
    ///   - appTime: the clock of transfers over the application's transports.
    ///   - numbers: the source of transfer ids, each of which is used once in the process.
    package static func make(
        _ configuration: DownloaderConfiguration, transport: any Transport, appTime: any TimeSource = SystemTime(),
        numbers: @escaping @Sendable () -> UInt64 = { TokenSeat.makeSerial() }
    ) throws(CreationFailure) -> Downloader {
        let bell: EventBell?
        do throws(SystemError) {
            if case .application = configuration.delivery { bell = try EventBell() } else { bell = nil }
        } catch {
            throw .noResources("The system gave no descriptor for events.")
        }
        let downloader = Downloader(
            configuration, transport: transport, bell: bell, appTime: appTime, numbers: numbers)
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
                // A picture that waits for room comes before helpers that wait for pictures.
                if decodeAccount.isWanted { registry.endIdleHelpers() }
                return change { table, now in table.decoderAsks(at: now) }
            },
            decoded: { [unowned self] id, outcome, facts in
                change { table, now in table.decoded(id, outcome, facts, at: now) }
            },
            advanced: { [unowned self] id, outcome in
                change { table, now in table.advanced(id, outcome, at: now) }
            },
            foundInMemory: { [unowned self] id, form, image in
                change { table, now in table.foundInMemory(id, form, image, at: now) }
            },
            processed: { [unowned self] id, outcome in
                change { table, now in table.processed(id, outcome, at: now) }
            })
        return try DecodePool(
            threads: configuration.decodeThreads, desk: desk, registry: registry,
            limits: configuration.decodeLimits,
            accounts: [decodeAccount, promptAccount, helperAccount], client: client)
    }
}

/// The reasons why a downloader cannot be made.
package enum CreationFailure: Error, Equatable {
    /// The system gave no thread, descriptor or memory. The value is a sentence.
    case noResources(String)
    /// libcurl was built without a feature that the configuration needs. The value is a sentence.
    case unsupported(String)
    /// libcurl rejects a value of the configuration. The value is a sentence.
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
        order = configuration.order
        ageing = min(configuration.ageingMilliseconds, 1 << 40) * 1000
        progressFraction = configuration.minProgressInterval
        progressMicroseconds = min(configuration.minProgressMilliseconds, 1 << 40) * 1000
        progressive.streams = max(1, configuration.decodeThreads)
        progressive.previewMicroseconds = min(configuration.minPreviewMilliseconds, 1 << 40) * 1000
        progressive.previewBytes = configuration.minPreviewBytes
        progressive.previewScans = configuration.minPreviewScans
        decodeLimits = configuration.decodeLimits
        minHostInterval = min(configuration.minHostIntervalMilliseconds, 1 << 40) * 1000
        networkThreads = configuration.transport.threadCount
        retry.maxAttempts = configuration.maxAttempts
        retry.budget = configuration.retryBudget < 0 ? nil : Int(configuration.retryBudget)
        retry.delay = min(configuration.retryDelayMilliseconds, 1 << 40) * 1000
        retry.maxDelay = min(configuration.maxRetryDelayMilliseconds, 1 << 40) * 1000
    }
}

// MARK: - Requests

extension Downloader: TokenOwner {
    /// Accepts a request; its callbacks get exactly one terminal event.
    /// - Parameters:
    ///   - request: the request, or the error that is delivered as its end.
    ///   - isImmediate: true if the callbacks are not the application's, and are called immediately on the deciding thread
    ///     instead of through the delivery.
    /// - Returns: the token, or nil if the downloader is being destroyed; the callbacks then get no events.
    package func submit(
        _ request: Result<DownloadRequest, DownloadError>, callbacks: any AppCallbacks, isImmediate: Bool = false
    ) -> UInt64? {
        let listener = Listener(token: seat.makeToken(), callbacks: callbacks, isImmediate: isImmediate)
        guard isAdmitted() else { return nil }
        switch request {
        case .success(let request): submit(request, listener)
        case .failure(let error):
            change { table, now in
                table.refused(table.isClosing ? .closed : error, listener: listener, at: now)
            }
        }
        return listener.token
    }

    /// Counts a request, load or list, whose end is owed from now on.
    /// - Returns: false if the downloader is being destroyed.
    func isAdmitted() -> Bool {
        // It is counted first: `destroy` closes the gate, and then waits for everything that is owed.
        delivery.accepted()
        guard gate.has(.closed) else { return true }
        delivery.settled()
        return false
    }

    /// Reports a request to the table: by way of the inbox, unless it involves a cache, whose lookup begins on the
    /// submitting thread.
    /// - Parameter hit: what the request's lookup has found already.
    func submit(_ request: DownloadRequest, found hit: CacheHit? = nil, _ listener: Listener) {
        Trace.step("submit a request")
        var request = request
        // A change would copy the request.
        if request.isPrompt != listener.isImmediate { request.isPrompt = listener.isImmediate }
        let time = time.monotonicMicroseconds()
        guard request.lookup == nil else {
            return change { table, now in
                table.submitted(request, found: hit, token: listener.token, listener: listener, since: time, at: now)
            }
        }
        leave(.made(request, listener, time: time))
    }

    /// Accepts a plain request, as `submit` does others. If no token is returned, it is gone.
    package func submit(_ plain: PlainRequest) -> UInt64? {
        let token = seat.makeToken()
        guard isAdmitted() else {
            plain.free()
            return nil
        }
        Trace.step("submit a request")
        plain.accepted(as: token, at: time.monotonicMicroseconds())
        leave(.plain(plain))
        return token
    }

    /// Leaves a request in the inbox.
    private func leave(_ submission: SubmissionInbox.Submission) {
        let isFirst = inbox.add(submission)
        if isFirst { transport.wake(.first) }
        // After its end the network thread empties the inbox no more.
        if gate.has(.closed) { change { _, _ in } }
    }

    package func cancel(_ token: UInt64) -> Cancelled? {
        let isCancelled = change { table, now in table.cancelled(token, at: now) }
        return isCancelled ? Cancelled() : nil
    }

    package func cancelAll() {
        change { table, now in table.cancelledAll(at: now) }
        loaders.cancelAll()
    }

    package func setPriority(_ priority: Priority, of token: UInt64) -> Bool {
        change { table, now in table.prioritySet(priority, of: token, at: now) }
    }
}

// MARK: - Effects

extension Downloader {
    /// Reports an event to the table, then carries out its decisions without the lock.
    /// - Parameter thread: the network thread that this is called on, if it is one; it asks for commands by itself.
    func change<Outcome>(
        on thread: NetworkThreads = NetworkThreads(rawValue: 0),
        _ event: (inout DownloadTable<Listener>, Int64) -> Outcome
    ) -> Outcome {
        let (outcome, wakes, work, batch, cacheTasks, submissions) = table.withLock { table in
            // The time is read under the lock, so that it never runs backwards for the table.
            let now = time.monotonicMicroseconds()
            let submissions = inbox.takeAll()
            for submission in submissions { table.submitted(submission, at: now) }
            let outcome = event(&table, now)
            let work = table.takeWork(for: desk.freeThreads, at: now)
            return (
                outcome, table.takeWakes(), work, table.outbox.takeBatch(), table.outbox.takeCacheTasks(), submissions
            )
        }
        // Released without the lock: a request that was refused or has joined another may hold the last reference to
        // objects of the application.
        withExtendedLifetime(submissions) {}
        // Cache tasks that store data or start revalidations run before any event is delivered, so that a listener
        // finds the data in place.
        if !cacheTasks.isEmpty { run(cacheTasks.filter { !$0.asks }) }
        // The events do not wait for a decode, which `give` may have to do on this thread.
        if batch.ticket > 0 { delivery.enqueue(batch) }
        for end in batch.stageEnds { end.listener.stages?.stageEnded(end.result, of: end.listener.token) }
        if wakes.decoders > 0 || !work.isEmpty {
            let pool = decoders.withLock { $0 }
            if !work.isEmpty { pool?.give(work) }
            if wakes.decoders > 0 { pool?.wake(for: wakes.decoders) }
        }
        let waked = wakes.transport.subtracting(thread)
        if !waked.isEmpty { transport.wake(waked) }
        // Cache lookups run last, because a lookup may answer immediately, which reports another event to the table.
        if !cacheTasks.isEmpty { run(cacheTasks.filter { $0.asks }) }
        return outcome
    }
}

// MARK: - The transport's side

/// The transport's callbacks. Thread: sdd-net.
extension Downloader: TransportDelegate {
    package func takeCommands(into commands: inout [TransportCommand], for thread: NetworkThreads) -> Int64 {
        // A local copy is needed, because the lock's closure cannot capture an `inout` parameter.
        var taken: [TransportCommand] = []
        let now = time.monotonicMicroseconds()
        var deadline = change(on: thread) { table, now in table.transportAsks(for: &taken, on: thread, at: now) }
        if thread == .first {
            let shown = appTransfers.take(from: &taken)
            // One look, after the commands: what it ends is reported, and transfers that have just started have time
            // limits too.
            let (ended, next) = appTransfers.lookAtClocks()
            let events = shown + ended
            if !events.isEmpty { handle(events, of: thread) }
            deadline = min(deadline, next, loaders.lookAtClocks(at: now))
            // The table may have answered these events with commands, for which nothing wakes this thread.
            if !events.isEmpty { deadline = now }
        }
        commands += taken
        return deadline
    }

    /// Makes the first network thread look at the clocks.
    func wakeTransport() { transport.wake(.first) }

    package func handle(_ reports: [TransferEvent], of thread: NetworkThreads) {
        change(on: thread) { table, now in
            for report in reports { table.transportReports(report, at: now) }
        }
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
    package func setOrder(_ order: WaitingOrder) { setRules { $0.order = order } }

    private func setRules(_ set: (inout DownloadTable<Listener>.Rules) -> Void) {
        change { table, now in table.rulesChanged(at: now, set) }
    }

    package func setOffline(_ isOffline: Bool) { setRules { $0.isOffline = isOffline } }

    package func setSuspended(_ isSuspended: Bool) {
        change { table, now in table.suspended(isSuspended, at: now) }
    }

    package var isSuspended: Bool { change { table, _ in table.slots.isSuspended } }

    /// - Parameter milliseconds: the grace time; negative means no limit.
    package func enterBackground(milliseconds: Int64) {
        let grace = milliseconds < 0 ? -1 : min(milliseconds, 1 << 40) * 1000
        change { table, now in table.enteredBackground(grace: grace, at: now) }
    }

    package func enterForeground() {
        change { table, now in table.enteredForeground(at: now) }
    }

    /// The configuration with all later changes applied.
    package var currentConfiguration: DownloaderConfiguration {
        var current = configuration
        let rules = change { table, _ in table.rules }
        current.maxConcurrentDownloads = rules.maxConcurrent
        current.maxConcurrentPerHost = rules.maxPerHost
        current.minHostIntervalMilliseconds = rules.minHostInterval / 1000
        current.reservedUrgentSlots = rules.reservedForUrgent
        current.order = rules.order
        return current
    }
}

// MARK: - Queries

extension Downloader {
    package var currentDownloadCount: Int { change { table, _ in table.currentDownloadCount } }
    package var statistics: Statistics {
        var statistics = change { table, _ in table.currentStatistics }
        gate.count(into: &statistics)
        statistics.undeliveredBytes = Int64(delivery.undeliveredBytes)
        statistics.decodeMemoryBytes = Int64(decodeAccount.used &+ promptAccount.used)
        return statistics
    }
    package var cookies: CookieJar? { transport.cookies }

    package func information(on token: UInt64) -> RequestInformation? {
        change { table, now in
            table.handler(of: token).map { RequestInformation($0.job, $0.handler, at: now) }
        }
    }
}

// MARK: - Listeners

extension Downloader {
    package func setObserver(_ observer: (any Observer)?) {
        delivery.setObserver(observer)
        change { table, _ in table.observes = observer != nil }
    }

    /// Sets the log listener and level. Without a listener, messages go to standard error as the environment specifies.
    package func setLog(_ level: LogLevel, _ observer: (any Observer)?) {
        let level = observer == nil ? StandardErrorLog.level : level
        delivery.setLogObserver(observer)
        change { table, _ in table.logs = level }
        configuration.logSwitch.level = level
    }
}

// MARK: - Delivery

extension Downloader {
    package var isAppDriven: Bool { delivery.isAppDriven }
    /// The descriptor to poll for events, or -1 if the downloader delivers on its own thread.
    package var eventDescriptor: Int32 { delivery.eventDescriptor }

    /// Calls the callbacks of at most `max` queued events; 0 means all.
    package func dispatch(max: Int) throws(Failure) -> Int {
        guard isAppDriven else { throw .wrongMode }
        return try delivery.dispatch(max: max) { joinThreads() }
    }

    /// Passes queued events to `take`, and calls no callbacks. The objects that `take` returns are kept until the next
    /// call.
    package func drain(max: Int, take: (DeliveryEvent<Listener>) -> AnyObject?) throws(Failure) -> Int {
        guard isAppDriven else { throw .wrongMode }
        return try delivery.drain(max: max, take: take) { joinThreads() }
    }

    package func waitForEvent(milliseconds: Int64) throws(Failure) {
        guard isAppDriven else { throw .wrongMode }
        try delivery.waitForEvent(milliseconds: milliseconds) { joinThreads() }
    }

    package func waitUntilIdle(milliseconds: Int64) throws(Failure) {
        try delivery.waitUntilIdle(milliseconds: milliseconds, time: time) { joinThreads() }
    }
}
