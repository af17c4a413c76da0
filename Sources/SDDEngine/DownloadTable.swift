import SDDBase
import SDDCoders
import SDDTransport

/// All decisions of a downloader: which requests share a transfer, what runs, what waits, who is told
/// what, and that each handler is told its end exactly once. A state machine: events in, effects out. It
/// knows no thread, clock, socket or callback; `Downloader` keeps it under a lock and runs the effects.
///
/// The events are in `DownloadTable+Callers`, `+Caching`, `+Transport`, `+Decoding`, `+Ahead`, `+Retrying` and `+Clocks`.
struct DownloadTable<Subscriber> {
    typealias Token = UInt64
    typealias Handler = Job<Subscriber>.Handler

    enum Effect {
        case progress(Subscriber, received: Int64, expected: Int64)
        case facts(Subscriber, ImageFacts)
        case preview(Subscriber, DownloadResult)
        /// Its end is decided, and comes later: nothing else is to come before it.
        case mute(Subscriber)
        /// The one terminal event of a handler.
        case end(Subscriber, DownloadResult)
        /// That of a load, whose stages have had ends of their own.
        case finish(Subscriber, DownloadResult)
        /// What a cache has, before a load's end.
        case cached(Subscriber, DownloadResult)
        case notice(Notice)
        /// Something of the host's that must not be freed under the lock.
        case letGo(Job<Subscriber>)
        /// The same: its pixels may lie in memory of the host's.
        case drop(PictureStream)
    }

    /// The rules, as the host has set them.
    struct Rules: Sendable {
        var maxConcurrent = 6
        var maxPerHost = Int.max
        /// Between the starts of two transfers to one host, microseconds.
        var minHostInterval: Int64 = 0
        /// Of `maxConcurrent`, for the urgent.
        var reservedForUrgent = 0
        var order = WaitingQueue.Order.fifo
        /// Microseconds; 0: never.
        var ageing: Int64 = 0
        /// Progress that grew by less, of the whole, is not told; nor that which comes sooner.
        var progressFraction = 0.0
        var progressMicroseconds: Int64 = 0
        var ahead = AheadRules()
        var decodeLimits = DecodeLimits()
        /// Its budget is that of the beginning.
        var retry = RetryPolicy()
        /// HTTP caches are all there is.
        var isOffline = false
    }

    enum Background {
        case no
        /// The grace time runs.
        case grace(until: Int64)
        case over
    }

    /// Encoded bytes that may wait for a decode thread before no new transfer is started: a network faster
    /// than the decoders must not fill the memory, and a slower one must not leave them without work.
    private static var decodeBacklogLimit: Int { 8 << 20 }
    /// So many, and those that run are paused until there are no more than the limit again.
    private static var mostBacklog: Int { 64 << 20 }

    /// By the number of their id.
    var jobs = NumberMap<Job<Subscriber>>()
    /// Those that others may join, by the number of their request; equal ones in a chain.
    var sharedJobs = NumberMap<Job<Subscriber>>()
    var jobOfToken = NumberMap<Job<Subscriber>>()
    var waiting: WaitingQueue
    var received = PriorityBuckets<TransferID>()
    /// Those whose bodies have not come to their end, for a step of their streams.
    var aheadLine = PriorityBuckets<TransferID>()
    var streams = 0
    let registry: CoderRegistry
    let memory: (any MemoryKeeping)?
    var deadlines = Deadlines()
    /// Of jobs between two attempts.
    var pauses = Deadlines()
    var budget: RetryBudget
    var random: XorShift
    /// What the transport is to do, in order.
    var orders: [TransportCommand] = []
    /// What caches are to do.
    var errands: [Errand] = []
    var rules: Rules
    var statistics = Statistics()
    /// Somebody listens to what transfers do.
    var observes = false
    var logs = LogLevel.none

    /// Jobs between two attempts.
    var pausing = 0
    var running = 0
    /// Of those, the ones that are less than urgent.
    var runningOrdinary = 0
    var decodeBacklog = 0
    var isHeldBack = false
    /// Ends that wait until a decode thread does not write any more, by the number of their transfer.
    var detained: [UInt64: [Effect]] = [:]
    var isSuspended = false
    var background = Background.no
    /// No more requests are taken; those that are there may go on.
    var isClosing = false
    /// Loads may go on to their next stages.
    var isDraining = false
    /// Nobody can submit any more.
    private(set) var isClosed = false
    private var lastJob: UInt64 = 0
    private var lastTicket: UInt64 = 0
    /// Pieces of work for the decode threads since `takeWakes`.
    var newWork = 0
    /// The time the transport has been told to ask at, at the latest.
    private var promisedDeadline = Int64.max

    /// - Parameter seed: of the numbers that spread retries out.
    init(
        rules: Rules, registry: CoderRegistry = .builtIn, memory: (any MemoryKeeping)? = nil, seed: UInt64 = 1
    ) {
        self.rules = rules
        self.registry = registry
        self.memory = memory
        waiting = WaitingQueue(
            order: rules.order, maxPerHost: rules.maxPerHost, minInterval: rules.minHostInterval, ageing: rules.ageing)
        budget = RetryBudget(most: rules.retry.budget)
        random = XorShift(seed: seed)
    }

    /// The first level that counts as urgent.
    static var urgent: Priority { .high }

    mutating func newID() -> TransferID {
        lastJob += 1
        return TransferID(lastJob)
    }

    mutating func close() {
        isClosing = true
        isDraining = false
        isClosed = true
    }
}

// MARK: - Who is to be woken

extension DownloadTable {
    struct Wakes {
        var transport: Bool
        var decoders: Int
    }

    /// Whom the events since the last call have given something to do.
    mutating func takeWakes() -> Wakes {
        defer { newWork = 0 }
        return Wakes(transport: !orders.isEmpty || nextDeadline() < promisedDeadline, decoders: newWork)
    }

    /// The place of a batch of effects among all others: they are run after the unlock, by threads that may overtake
    /// one another, and must reach the host in the order in which they were decided.
    mutating func nextTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    mutating func takeErrands() -> [Errand] {
        if errands.isEmpty { return [] }
        defer { errands = [] }
        return errands
    }

    /// What the transport is to do, and when it is to ask again at the latest.
    mutating func takeOrders(into commands: inout [TransportCommand]) -> Int64 {
        commands += orders
        orders.removeAll(keepingCapacity: true)
        promisedDeadline = nextDeadline()
        return promisedDeadline
    }

    private mutating func nextDeadline() -> Int64 {
        var soonest = min(graceEnd, waiting.nextRestEnd)
        // Copies, since the closures must not look at what is being changed.
        if !deadlines.isEmpty {
            let tokens = jobOfToken
            soonest = min(soonest, deadlines.next { tokens[$0] != nil })
        }
        if !pauses.isEmpty {
            let all = jobs
            soonest = min(soonest, pauses.next { all[$0]?.isPausing == true })
        }
        return soonest
    }

    private var graceEnd: Int64 {
        if case .grace(let until) = background { until } else { .max }
    }
}

// MARK: - Who runs

extension DownloadTable {
    private var mayStart: Bool {
        guard !isSuspended, running < rules.maxConcurrent, decodeBacklog <= Self.decodeBacklogLimit else {
            return false
        }
        if case .no = background { return true }
        return false
    }

    /// Starts as many as may run.
    mutating func fill(at now: Int64, _ effects: inout [Effect]) {
        waiting.restsEnded(at: now)
        guard mayStart, !waiting.isEmpty else { return }
        raiseOverdue(at: now)
        while mayStart {
            let ordinary = max(1, rules.maxConcurrent - rules.reservedForUrgent)
            let least = runningOrdinary < ordinary ? Priority.veryLow : Self.urgent
            guard let id = waiting.next(atLeast: least), let job = jobs[id.number], case .waiting(let place) = job.stage
            else {
                return
            }
            waiting.started(place, at: now)
            start(job, at: now, &effects)
        }
    }

    private mutating func start(_ job: Job<Subscriber>, at now: Int64, _ effects: inout [Effect]) {
        job.stage = .running
        if job.started == 0 { job.attempts += 1 }
        job.started = now
        running += 1
        if job.priority < Self.urgent { runningOrdinary += 1 }
        statistics.transfersStarted += 1
        orders.append(.start(job.id, job.request, job.priority))
        // At once: a body may begin and break off in one turn of the transport, and is to be kept.
        if job.caching?.exchange?.resumes == true { orders.append(.show(job.id)) }
        if observes { effects.append(.notice(notice(.start, job, at: now))) }
        tell(0, of: -1, in: job, at: now, &effects)
    }

    private mutating func raiseOverdue(at now: Int64) {
        while let (id, levels) = waiting.overdue(at: now), let job = jobs[id.number] {
            job.boost += levels
            reprioritize(job, at: now)
        }
    }

    /// A running job has left the network.
    mutating func stopped(_ job: Job<Subscriber>) {
        running -= 1
        if job.priority < Self.urgent { runningOrdinary -= 1 }
        waiting.ended(host: job.host)
    }

    /// The priority of a job follows its handlers, wherever it stands.
    mutating func reprioritize(_ job: Job<Subscriber>, at now: Int64) {
        let (old, new) = (job.priority, job.wantedPriority)
        guard new != old else { return }
        job.priority = new
        switch job.stage {
        case .waiting(let place):
            waiting.remove(place)
            job.stage = .waiting(waiting.append(job.id, host: job.host, priority: new, at: now))
        case .running:
            runningOrdinary += (new < Self.urgent ? 1 : 0) - (old < Self.urgent ? 1 : 0)
            orders.append(.setPriority(job.id, new))
            if let place = job.ahead?.place {
                aheadLine.remove(place)
                job.ahead?.place = aheadLine.append(job.id, priority: new)
            }
        case .received(let place):
            received.remove(place)
            job.stage = .received(received.append(job.id, priority: new))
        case .asking, .working, .pausing: break
        }
    }

    /// The decoders have fallen far behind, or have caught up.
    mutating func backlogChanged(by bytes: Int) {
        decodeBacklog += bytes
        let isFarBehind = decodeBacklog > (isHeldBack ? Self.decodeBacklogLimit : Self.mostBacklog)
        guard isFarBehind != isHeldBack else { return }
        isHeldBack.toggle()
        for job in jobs.sortedValues where job.isRunning { updatePause(job) }
    }

    /// In the background only what a handler wants to go on does.
    mutating func updatePause(_ job: Job<Subscriber>) {
        guard job.isRunning else { return }
        let pauses =
            switch background {
            case .no: isHeldBack
            case .grace: !job.continuesInBackground
            case .over: true
            }
        guard pauses != job.isPaused else { return }
        job.isPaused = pauses
        orders.append(pauses ? .pause(job.id) : .resume(job.id))
    }
}

// MARK: - Ends

extension DownloadTable {
    /// Tells one handler its end; it is not in its job's list any more, or the job is not in the table.
    mutating func end(
        _ handler: Handler, of job: Job<Subscriber>, image: Image? = nil, reserved: (any MemoryReserved)? = nil,
        error: DownloadError? = nil, failedAt stage: DownloadResult.Stage? = nil, at now: Int64,
        _ effects: inout [Effect]
    ) {
        jobOfToken[handler.token] = nil
        if !handler.isStage { count(error) }
        let end = Effect.end(
            handler.subscriber,
            job.result(for: handler, image: image, reserved: reserved, error: error, failedAt: stage, at: now))
        guard job.isWriting, handler.form.isCallers else {
            effects.append(end)
            return
        }
        // A caller that is told its end takes its memory back.
        effects.append(.mute(handler.subscriber))
        detained[job.id.number, default: []].append(end)
    }

    mutating func count(_ error: DownloadError?) {
        switch error?.code {
        case nil: statistics.succeeded += 1
        case .cancelled?: statistics.cancelled += 1
        default: statistics.failed += 1
        }
    }

    /// All handlers end alike, and the job with them. It is off the network already.
    mutating func endAll(
        _ job: Job<Subscriber>, error: DownloadError? = nil, failedAt stage: DownloadResult.Stage? = nil,
        at now: Int64, _ effects: inout [Effect]
    ) {
        remove(job, &effects)
        for handler in job.handlers {
            end(handler, of: job, error: error, failedAt: stage, at: now, &effects)
        }
        job.handlers = []
    }

    mutating func remove(_ job: Job<Subscriber>, _ effects: inout [Effect]) {
        jobs[job.id.number] = nil
        if job.isShared { unshare(job) }
        dropAhead(of: job, &effects)
        leaveCaches(job)
        // An inquiry may have the last reference to a cache, or to pixels in memory of the host's.
        if job.bodyWork != nil || job.request.plugin != nil || job.caching != nil || !job.kept.isEmpty {
            effects.append(.letGo(job))
        }
    }

    /// The job that a newcomer may join.
    func sharedJob(for request: DownloadRequest) -> Job<Subscriber>? {
        var job = sharedJobs[request.number]
        while let candidate = job, !candidate.serves(request) { job = candidate.nextShared }
        return job
    }

    mutating func share(_ job: Job<Subscriber>) {
        let number = job.number
        job.nextShared = sharedJobs[number]
        sharedJobs[number] = job
    }

    private mutating func unshare(_ job: Job<Subscriber>) {
        let number = job.number
        guard let first = sharedJobs[number] else { return }
        if first === job {
            sharedJobs[number] = job.nextShared
        } else {
            var before = first
            while let next = before.nextShared, next !== job { before = next }
            before.nextShared = job.nextShared
        }
        job.nextShared = nil
    }

    /// Takes a job that nobody waits for out of the table, wherever it stands.
    mutating func abandon(_ job: Job<Subscriber>, error: DownloadError, at now: Int64, _ effects: inout [Effect]) {
        remove(job, &effects)
        switch job.stage {
        case .waiting(let place): waiting.remove(place)
        case .running:
            stopped(job)
            orders.append(.cancel(job.id))
            if observes { effects.append(.notice(notice(.stop, job, error: error, at: now))) }
        case .received(let place):
            received.remove(place)
            backlogChanged(by: -(job.body?.count ?? 0))
        case .pausing: pausing -= 1
        case .asking, .working: break
        }
    }
}

// MARK: - What is told

extension DownloadTable {
    /// Progress, to who wants it. Counts between the first and the last may be left out.
    mutating func tell(
        _ count: Int64, of expected: Int64, in job: Job<Subscriber>, isLast: Bool = false, at now: Int64,
        _ effects: inout [Effect]
    ) {
        for index in job.handlers.indices where job.handlers[index].wantsProgress {
            // The whole may have been told as it came.
            if isLast, job.handlers[index].told.count == count, job.head?.expectedBytes == expected { continue }
            if count > 0, !isLast, isTooSoon(count, of: expected, after: job.handlers[index].told, at: now) { continue }
            if count > 0 { job.handlers[index].told = (count, now) }
            effects.append(.progress(job.handlers[index].subscriber, received: count, expected: expected))
        }
    }

    private func isTooSoon(
        _ count: Int64, of expected: Int64, after told: (count: Int64, time: Int64), at now: Int64
    ) -> Bool {
        if count == expected { return false }
        if rules.progressMicroseconds > 0, told.time != .min, now - told.time < rules.progressMicroseconds {
            return true
        }
        guard rules.progressFraction > 0, expected > 0 else { return false }
        return Double(count - told.count) / Double(expected) < rules.progressFraction
    }

    func notice(
        _ kind: Notice.Kind, _ job: Job<Subscriber>, error: DownloadError? = nil, at now: Int64,
        level: LogLevel = .none, message: String? = nil, delay: Int64 = 0
    ) -> Notice {
        Notice(
            kind, transfer: job.id.number, token: job.firstToken, url: job.request.url.text, time: now,
            httpStatus: job.response?.status ?? 0, error: error?.code.rawValue ?? 0, level: level, message: message,
            attempt: job.attempts, delay: delay)
    }
}
