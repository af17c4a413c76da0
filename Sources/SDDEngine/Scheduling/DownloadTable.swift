import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport

/// Makes all decisions of a downloader: which requests share a transfer, which transfers run or wait, and which events
/// handlers get, including exactly one terminal event each. A state machine: reports go in; events, commands and cache
/// tasks come out in its `Outbox`. It knows no thread, clock, socket or callback; `Downloader` keeps it under a lock
/// and carries out what it decides.
///
/// Its state is in its parts: `JobIndex`, `TransferSlots`, `DecodeQueue`, `RetryQueue` and `Outbox`. The events are in
/// `DownloadTable+Requests`, `+Plain`, `+Caching`, `+Transport`, `+Decoding`, `+ProgressiveDecode`, `+Room`, `+Retrying`
/// and `+Clocks`.
struct DownloadTable<Recipient: AnyObject> {
    typealias Token = UInt64
    typealias Handler = Job<Recipient>.Handler

    /// The rules that the application has set.
    struct Rules: Sendable {
        var maxConcurrent = 6
        var maxPerHost = Int.max
        /// Minimum time between the starts of two transfers to one HTTP host, in microseconds.
        var minHostInterval: Int64 = 0
        /// Slots of `maxConcurrent` reserved for urgent requests.
        var reservedForUrgent = 0
        var order = WaitingOrder.fifo
        /// Waiting time in microseconds after which a job's priority rises; 0 disables ageing.
        var ageing: Int64 = 0
        /// Minimum distance between two progress events, as a fraction of the whole and in microseconds.
        var progressFraction = 0.0
        var progressMicroseconds: Int64 = 0
        var progressive = ProgressiveRules()
        var decodeLimits = DecodeLimits()
        /// The retry rules. Changing them later has no effect.
        var retry = RetryPolicy()
        /// True if only caches may be used.
        var isOffline = false
        /// The threads among which the transport's hosts are spread. Changing it later has no effect.
        var networkThreads = 1
    }

    var jobs: JobIndex<Recipient>
    var slots: TransferSlots<Recipient>
    var decoding: DecodeQueue<Recipient>
    let registry: CoderRegistry
    var deadlines = Deadlines<RequestLimit>()
    var retries: RetryQueue
    var stores = RecentStores()
    var outbox: Outbox<Recipient>
    var rules: Rules
    var statistics = Statistics()
    /// True if a listener wants the events of transfers.
    var observes = false
    var logs = LogLevel.none

    /// Whether requests are accepted, as in `DownloaderGate`.
    private(set) var gate = DownloaderGate.State.open

    /// Makes the listener of a plain request.
    let makeListener: (Token, any AppCallbacks) -> Recipient

    /// - Parameters:
    ///   - seed: seed of the random numbers that spread retries out.
    ///   - numbers: generates the numbers of job ids, each larger than those before.
    init(
        rules: Rules, registry: CoderRegistry = .builtIn, room: RoomLines = RoomLines(), seed: UInt64 = 1,
        numbers: (@Sendable () -> UInt64)? = nil,
        makeListener: @escaping @Sendable (Token, any AppCallbacks) -> Recipient
    ) {
        self.makeListener = makeListener
        jobs = JobIndex(numbers: numbers)
        self.rules = rules
        outbox = Outbox(threadCount: rules.networkThreads)
        self.registry = registry
        decoding = DecodeQueue(room: room)
        slots = TransferSlots(rules)
        retries = RetryQueue(rules.retry, seed: seed)
    }

    mutating func close(_ state: DownloaderGate.State) { gate = max(gate, state) }

    /// True if no more requests are accepted; existing ones may continue.
    var isClosing: Bool { gate >= .draining }
}

// MARK: - Wake-ups and output

extension DownloadTable {
    struct Wakes {
        var transport: NetworkThreads
        var decoders: Int
    }

    /// Takes work that the events since the last call have produced, for at most so many decode threads.
    mutating func takeWork(for threads: Int, at now: Int64) -> [DecodeWork] {
        if threads == 0 || !outbox.hasWork { return [] }
        var work: [DecodeWork] = []
        while work.count < threads, outbox.takeOneWork(), let next = decoderAsks(at: now) { work.append(next) }
        return work
    }

    /// Returns the threads for which the events since the last call have produced work.
    mutating func takeWakes() -> Wakes {
        var threads = outbox.threadsWithCommands
        if outbox.isLate(for: nextDeadline()) { threads.insert(.first) }
        return Wakes(transport: threads, decoders: outbox.takeWork())
    }

    mutating func nextDeadline() -> Int64 {
        var soonest = min(slots.nextTime, retries.nextEnd())
        if !deadlines.isEmpty {
            // The closure uses a copy, because it must not access a table that is being modified.
            let all = jobs
            soonest = min(soonest, deadlines.next { all.contains(token: $0) })
        }
        return soonest
    }
}

// MARK: - Scheduling

extension DownloadTable {
    /// Starts as many waiting jobs as may run.
    mutating func fill(at now: Int64) {
        slots.restsEnded(at: now)
        guard slots.mayStart(behind: decoding.backlog), slots.waitingCount > 0 else { return }
        raiseOverdue(at: now)
        while let waiter = slots.next(behind: decoding.backlog), let job = job(of: waiter),
            case .waiting(let place) = job.stage
        {
            slots.started(place, priority: job.priority, at: now)
            start(job, at: now)
        }
    }

    private mutating func start(_ job: Job<Recipient>, at now: Int64) {
        guard let turn = job.caching?.turn ?? lateTurn(of: job) else { return begin(job, at: now) }
        job.caching?.turn = nil
        job.stage = .claiming
        outbox.run(.claim(job.id, turn))
    }

    /// Returns what asks for a claim, if the job has none and needs one: its disk has other users, or may have the
    /// entry by now. Otherwise the job marks its key, for users that may come.
    private func lateTurn(of job: Job<Recipient>) -> HTTPLookupJob? {
        guard job.caching == nil, job.mark == nil, let claiming = job.claiming, let disk = claiming.lookup.cache.disk
        else { return nil }
        if !job.mustLookAgain, !claiming.lookup.cache.hasOtherUsers {
            job.mark = disk.store.downloads.markAlone(claiming.lookup.key)
            if job.mark != nil { return nil }
        }
        job.useCache(claiming.lookup)
        return HTTPLookupJob(
            claiming.lookup, disk, LookupContext(isOffline: rules.isOffline, stores: stores.progress))
    }

    /// Sends a command to the network thread of a job: all transfers to one host are on one thread, so that they can
    /// share connections. Transports of the application are called on the first.
    mutating func send(_ command: TransportCommand, for job: Job<Recipient>) {
        let isOnFirst = outbox.threadCount == 1 || job.request.hasAppTransport
        outbox.send(command, to: isOnFirst ? 0 : Int(job.host % UInt64(outbox.threadCount)))
    }

    /// Starts the transfer of a job that has a slot and the right to download.
    mutating func begin(_ job: Job<Recipient>, at now: Int64) {
        job.stage = .running
        if job.started == 0 { job.attempts += 1 }
        job.started = now
        slots.began(job)
        statistics.transfersStarted += 1
        send(.start(job.id, job.request, job.priority), for: job)
        // Ask for the body now: it may begin and break off within one turn of the transport, and its part must be
        // saved.
        if job.caching?.revalidation?.resumes == true { send(.show(job.id), for: job) }
        observe(.start, job, at: now)
        tell(0, of: -1, in: job, at: now)
    }

    private mutating func raiseOverdue(at now: Int64) {
        while let (waiter, levels) = slots.overdue(at: now), let job = job(of: waiter) {
            job.boost += levels
            reprioritize(job, at: now)
        }
    }

    /// Removes a job from the network and frees its slot.
    mutating func stopped(_ job: Job<Recipient>) {
        slots.ended(job)
        holds(0, of: job)
        // A transfer that is cancelled reports nothing more.
        if job.end == nil, let soFar = job.head?.soFar { count(soFar.metrics) }
    }

    /// Records how many bytes of a running job's body are in memory.
    mutating func holds(_ bytes: Int64, of job: Job<Recipient>) {
        statistics.receivingBytes &+= bytes &- job.receivingBytes
        job.receivingBytes = bytes
    }

    /// Updates a job's priority from its handlers, and its position in the line that it waits in.
    mutating func reprioritize(_ job: Job<Recipient>, at now: Int64) {
        let (old, new) = (job.priority, job.wantedPriority)
        guard new != old else { return }
        job.priority = new
        switch job.stage {
        case .waiting(let place):
            slots.remove(place)
            wait(job, at: now)
        case .claiming: slots.priorityChanged(from: old, to: new)
        case .running:
            slots.priorityChanged(from: old, to: new)
            send(.setPriority(job.id, new), for: job)
            if let place = job.progressive?.place {
                job.progressive?.place = decoding.moveStep(place, of: job)
            }
        case .received(let place):
            job.stage = .received(decoding.move(place, of: job))
        case .lacking(let place):
            job.stage = .lacking(decoding.moveLacking(place, of: job))
            // Another job may be first in line now.
            outbox.addWork()
        case .asking:
            if let caching = job.caching, let wish = caching.wish { outbox.run(.raise(caching.lookup, wish, new)) }
        case .working, .pausing: break
        }
    }

    /// Pauses or resumes a running job, as `TransferSlots.pauses` decides.
    mutating func updatePause(_ job: Job<Recipient>) {
        guard job.isRunning else { return }
        let pauses = slots.pauses(job, isHeldBack: decoding.backlog.isHeldBack)
        guard pauses != job.isPaused else { return }
        job.isPaused = pauses
        send(pauses ? .pause(job.id) : .resume(job.id), for: job)
    }
}

// MARK: - Ends

extension DownloadTable {
    /// Tells one handler its end. The handler must leave its job's list, or the job the table.
    mutating func end(
        _ handler: Handler, of job: Job<Recipient>, image: Image? = nil, reserved: (any MemoryReserved)? = nil,
        error: DownloadError? = nil, failedAt stage: DownloadResult.Stage? = nil, at now: Int64
    ) {
        jobs.remove(token: handler.token)
        if let memory = handler.request.memoryToRelease { outbox.release(memory) }
        if !handler.isStage { count(error) }
        let end = RequestEnd(
            listener: handler.listener,
            result: job.result(for: handler, image: image, reserved: reserved, error: error, failedAt: stage, at: now),
            isOfStage: handler.isStage)
        guard job.isWriting, handler.form.isCallers else {
            outbox.append(end)
            return
        }
        // A caller may reuse its memory once it has been told its end.
        outbox.mute(handler.listener)
        decoding.detain(end, of: job)
    }

    mutating func count(_ error: DownloadError?) {
        switch error?.code {
        case nil: statistics.succeeded += 1
        case .cancelled?: statistics.cancelled += 1
        default: statistics.failed += 1
        }
    }

    /// Ends all handlers alike, and their job, which must have left the network.
    mutating func endAll(
        _ job: Job<Recipient>, error: DownloadError? = nil, failedAt stage: DownloadResult.Stage? = nil,
        at now: Int64
    ) {
        remove(job)
        job.handlers.takeAll().forEach { end($0, of: job, error: error, failedAt: stage, at: now) }
    }

    mutating func remove(_ job: Job<Recipient>) {
        jobs.remove(job)
        if job.isPrompt { promptJobsChanged(by: -1) }
        endProgressive(of: job)
        leaveCaches(job)
        if let mark = job.mark { unmark(job, mark) }
        // A lookup may hold the last reference to a cache or to pixels in the application's memory.
        if job.bodyWork != nil || job.request.hasAppTransport || job.caching != nil || !job.kept.isEmpty {
            outbox.release(job)
        }
    }

    /// Lets others download what a job claims or marks; it stores its body all the same. Called when the body waits for
    /// memory, perhaps until a callback returns in which a thread waits for one of these others.
    mutating func giveUpClaim(of job: Job<Recipient>) {
        if let revalidation = job.caching?.revalidation { outbox.run(.apply(revalidation, .nothing)) }
        if let mark = job.mark { unmark(job, mark) }
    }

    /// Ends the mark of a job's key, once the original is on disk if it is stored.
    private mutating func unmark(_ job: Job<Recipient>, _ mark: DownloadMark) {
        job.mark = nil
        outbox.run(.unmark(mark, job.kept.isEmpty ? nil : job.claiming?.lookup.cache.disk))
    }

    /// Removes a job that no caller waits for any more from the table, and from the line or slot that it occupies.
    mutating func abandon(_ job: Job<Recipient>, error: DownloadError, at now: Int64) {
        remove(job)
        job.decodeStop?.stop()
        switch job.stage {
        case .waiting(let place): slots.remove(place)
        case .running:
            stopped(job)
            send(.cancel(job.id), for: job)
            observe(.stop, job, error: error, at: now)
        case .received(let place):
            decoding.remove(place, of: job)
            updateHold()
        case .lacking(let place):
            decoding.removeLacking(place, of: job)
            // The next job may need less memory.
            outbox.addWork()
            updateHold()
        case .claiming: stopped(job)
        case .pausing: retries.remove(job.id.number)
        case .asking, .working: break
        }
    }
}

// MARK: - Progress and notices

extension DownloadTable {
    /// Reports progress to the handlers that want it. Counts between the first and the last may be skipped.
    mutating func tell(_ count: Int64, of expected: Int64, in job: Job<Recipient>, isLast: Bool = false, at now: Int64)
    {
        guard job.handlers.wantProgress else { return }
        var next = job.handlers.firstPlace
        while let place = next, let handler = job.handlers[place] {
            next = job.handlers.place(after: place)
            guard handler.wantsProgress else { continue }
            // The whole count may already have been reported when its bytes arrived.
            if isLast, handler.told.count == count, job.head?.expectedBytes == expected { continue }
            if count > 0, !isLast, isTooSoon(count, of: expected, after: handler.told, at: now) { continue }
            if count > 0 { job.handlers.setTold((count, now), at: place) }
            outbox.append(.progress(handler.listener, received: count, expected: expected))
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

    /// Reports an event of a transfer to the observer, if there is one.
    mutating func observe(
        _ kind: Notice.Kind, _ job: Job<Recipient>, error: DownloadError? = nil, at now: Int64, delay: Int64 = 0
    ) {
        guard observes else { return }
        outbox.append(.notice(notice(kind, job, error: error, at: now, delay: delay), to: nil))
    }

    func notice(
        _ kind: Notice.Kind, _ job: Job<Recipient>, error: DownloadError? = nil, at now: Int64,
        level: LogLevel = .none, message: String? = nil, delay: Int64 = 0
    ) -> Notice {
        Notice(
            kind, transfer: job.id.number, token: job.firstToken, url: job.request.url.textWithoutUserinfo, time: now,
            httpStatus: job.response?.status ?? 0, error: error, level: level, message: message,
            attempt: job.attempts, delay: delay)
    }
}
