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
        /// The end of a load, whose stages have had ends of their own.
        case finish(Subscriber, DownloadResult)
        /// A picture that a cache has, before the end of its load.
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
        /// Places of `maxConcurrent` that are kept for urgent requests.
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

    /// The place of a handler.
    struct Member {
        let job: Job<Subscriber>
        let place: Handlers<Subscriber>.Place
    }

    enum Background {
        case no
        /// The grace time runs.
        case grace(until: Int64)
        case over
    }

    /// By the number of their id.
    var jobs = NumberMap<Job<Subscriber>>()
    /// Jobs that other requests may join, by the hash of their request; those of equal hashes form a chain.
    var sharedJobs = NumberMap<Job<Subscriber>>()
    var jobOfToken = NumberMap<Member>()
    /// Jobs on the network, by the number of their id.
    var runners = NumberMap<Job<Subscriber>>()
    var waiting: WaitingQueue
    var received = PriorityBuckets<TransferID>()
    /// Jobs whose bodies are still arriving, and whose streams are to take a step.
    var aheadLine = PriorityBuckets<TransferID>()
    /// Jobs that have a stream for what has come of their bodies.
    var streaming: Set<UInt64> = []
    var streams: Int { streaming.count }
    let registry: CoderRegistry
    /// Complete bodies for whose pictures there is no room, and who is asked for it.
    var room: RoomLines
    var deadlines = Deadlines()
    /// The times at which jobs between two attempts go on.
    var pauses = Deadlines()
    var budget: RetryBudget
    var random: XorShift
    /// Commands for the transport, in order.
    var orders: [TransportCommand] = []
    /// Work for the caches.
    var errands: [Errand] = []
    var rules: Rules
    var statistics = Statistics()
    let tally = Job<Subscriber>.Tally()
    /// Somebody listens to what transfers do.
    var observes = false
    var logs = LogLevel.none

    /// Jobs between two attempts.
    var pausing = 0
    var running = 0
    /// Running jobs that are less than urgent.
    var runningOrdinary = 0
    var decodeBacklog: Int { backlog.total }
    var backlog = DecodeBacklog()
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
    /// nil: 1, 2, and so on.
    private let numbers: (@Sendable () -> UInt64)?
    private var lastTicket: UInt64 = 0
    /// Pieces of work for the decode threads since `takeWakes`.
    var newWork = 0
    /// The time the transport has been told to ask at, at the latest.
    private var promisedDeadline = Int64.max

    /// - Parameters:
    ///   - seed: of the numbers that spread retries out.
    ///   - numbers: where those of jobs come from; later ones are larger.
    init(
        rules: Rules, registry: CoderRegistry = .builtIn, room: RoomLines = RoomLines(), seed: UInt64 = 1,
        numbers: (@Sendable () -> UInt64)? = nil
    ) {
        self.numbers = numbers
        self.rules = rules
        self.registry = registry
        self.room = room
        waiting = WaitingQueue(
            order: rules.order, maxPerHost: rules.maxPerHost, minInterval: rules.minHostInterval, ageing: rules.ageing)
        budget = RetryBudget(most: rules.retry.budget)
        random = XorShift(seed: seed)
    }

    /// The first level that counts as urgent.
    static var urgent: Priority { .high }

    mutating func newID() -> TransferID {
        lastJob = numbers?() ?? lastJob + 1
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

    /// Gives commands to the transport, and the time at which it asks again at the latest.
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
        guard !isSuspended, running < rules.maxConcurrent, case .no = background else { return false }
        return !backlog.isFull(forPrompt: false) || waiting.promptCount > 0 && !backlog.isFull(forPrompt: true)
    }

    /// Starts as many as may run.
    mutating func fill(at now: Int64, _ effects: inout [Effect]) {
        waiting.restsEnded(at: now)
        guard mayStart, !waiting.isEmpty else { return }
        raiseOverdue(at: now)
        while mayStart {
            let ordinary = max(1, rules.maxConcurrent - rules.reservedForUrgent)
            let least = runningOrdinary < ordinary ? Priority.veryLow : Self.urgent
            let isPrompt = backlog.isFull(forPrompt: false)
            guard let id = waiting.next(atLeast: least, isPrompt: isPrompt), let job = jobs[id.number],
                case .waiting(let place) = job.stage
            else {
                return
            }
            waiting.started(place, at: now)
            start(job, at: now, &effects)
        }
    }

    private mutating func start(_ job: Job<Subscriber>, at now: Int64, _ effects: inout [Effect]) {
        running += 1
        if job.priority < Self.urgent { runningOrdinary += 1 }
        guard let turn = job.caching?.turn else { return begin(job, at: now, &effects) }
        job.caching?.turn = nil
        job.stage = .claiming
        errands.append(.claim(job.id, turn))
    }

    /// It has its place, and the right to download.
    mutating func begin(_ job: Job<Subscriber>, at now: Int64, _ effects: inout [Effect]) {
        job.stage = .running
        if job.started == 0 { job.attempts += 1 }
        job.started = now
        runners[job.id.number] = job
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
        runners[job.id.number] = nil
        if job.priority < Self.urgent { runningOrdinary -= 1 }
        waiting.ended(host: job.host)
        holds(0, of: job)
    }

    /// So much of a running job's body is in memory.
    mutating func holds(_ bytes: Int64, of job: Job<Subscriber>) {
        statistics.receivingBytes &+= bytes &- job.receivingBytes
        job.receivingBytes = bytes
    }

    /// The priority of a job follows its handlers, wherever it stands.
    mutating func reprioritize(_ job: Job<Subscriber>, at now: Int64) {
        let (old, new) = (job.priority, job.wantedPriority)
        guard new != old else { return }
        job.priority = new
        switch job.stage {
        case .waiting(let place):
            waiting.remove(place)
            wait(job, at: now)
        case .claiming: runningOrdinary += (new < Self.urgent ? 1 : 0) - (old < Self.urgent ? 1 : 0)
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
        case .lacking(let place):
            room.remove(place)
            job.stage = .lacking(room.append(job.id, priority: new, isPrompt: job.isPrompt))
            // Another one may be the first now.
            newWork += 1
        case .asking, .working, .pausing: break
        }
    }

    /// In the background a job goes on only if one of its handlers wants that.
    mutating func updatePause(_ job: Job<Subscriber>) {
        guard job.isRunning else { return }
        let pauses =
            switch background {
            case .no: backlog.isHeldBack
            case .grace: !job.handlers.continueInBackground
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
        job.handlers.removeAll()
    }

    mutating func remove(_ job: Job<Subscriber>, _ effects: inout [Effect]) {
        jobs[job.id.number] = nil
        job.leaveTable()
        if job.isShared { unshare(job) }
        if job.isPrompt { promptJobsChanged(by: -1) }
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
            backlogChanged(by: -(job.body?.count ?? 0), for: job)
        case .lacking(let place):
            stopLacking(place)
            backlogChanged(by: -(job.body?.count ?? 0), for: job)
        case .claiming: stopped(job)
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
        guard job.handlers.wantProgress else { return }
        var next = job.handlers.firstPlace
        while let place = next, let handler = job.handlers[place] {
            next = job.handlers.place(after: place)
            guard handler.wantsProgress else { continue }
            // The whole may have been told as it came.
            if isLast, handler.told.count == count, job.head?.expectedBytes == expected { continue }
            if count > 0, !isLast, isTooSoon(count, of: expected, after: handler.told, at: now) { continue }
            if count > 0 { job.handlers.setTold((count, now), at: place) }
            effects.append(.progress(handler.subscriber, received: count, expected: expected))
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
            kind, transfer: job.id.number, token: job.firstToken, url: job.request.url.textWithoutUserinfo, time: now,
            httpStatus: job.response?.status ?? 0, error: error?.code.rawValue ?? 0, level: level, message: message,
            attempt: job.attempts, delay: delay)
    }
}
