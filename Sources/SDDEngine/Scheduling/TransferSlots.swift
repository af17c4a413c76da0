import SDDBase
import SDDTransport

/// The jobs that wait for a slot on the network and those that have one, and the rules on how many run: slots, hosts,
/// suspension and the background. A value, part of the table.
struct TransferSlots<Recipient: AnyObject> {
    typealias Rules = DownloadTable<Recipient>.Rules

    private enum Background {
        case no
        /// Background transfers continue until the grace time is over.
        case grace(until: Int64)
        case over
    }

    private var waiting: WaitingQueue<Waiter>
    /// Jobs on the network, by the number of their id.
    private var runners = NumberMap<Job<Recipient>>()
    private var maxConcurrent: Int
    private var reservedForUrgent: Int
    /// The number of jobs that have a slot: those on the network, and those that claim the right to download.
    private(set) var running = 0
    /// The number of running jobs below urgent priority.
    private(set) var runningOrdinary = 0
    private(set) var isSuspended = false
    private var background = Background.no

    init(_ rules: Rules) {
        waiting = WaitingQueue(
            order: rules.order, maxPerHost: rules.maxPerHost, minInterval: rules.minHostInterval, ageing: rules.ageing)
        (maxConcurrent, reservedForUrgent) = (rules.maxConcurrent, rules.reservedForUrgent)
    }

    /// Applies changed rules. Ageing cannot be changed.
    mutating func rulesChanged(to rules: Rules, at now: Int64) {
        (maxConcurrent, reservedForUrgent) = (rules.maxConcurrent, rules.reservedForUrgent)
        if rules.order != waiting.order { waiting.orderChanged(to: rules.order) }
        if rules.maxPerHost != waiting.maxPerHost { waiting.maxPerHostChanged(to: rules.maxPerHost) }
        if rules.minHostInterval != waiting.minInterval {
            waiting.minIntervalChanged(to: rules.minHostInterval, at: now)
        }
    }

    /// The lowest priority that counts as urgent.
    private static var urgent: Priority { .high }
}

// MARK: - Waiting

extension TransferSlots {
    var waitingCount: Int { waiting.count }

    mutating func append(
        _ waiter: Waiter, host: UInt64, priority: Priority, isPrompt: Bool, at now: Int64
    ) -> WaitingPlace {
        waiting.append(waiter, host: host, priority: priority, isPrompt: isPrompt, at: now)
    }

    mutating func remove(_ place: WaitingPlace) { waiting.remove(place) }

    /// Puts the job of a plain request in its place.
    mutating func replace(_ place: WaitingPlace, by id: TransferID) { waiting.replace(place, by: .job(id)) }

    /// Ends the rests of hosts that are over.
    mutating func restsEnded(at now: Int64) { waiting.restsEnded(at: now) }

    /// Returns what has waited long enough to be raised, and by how many priority levels.
    func overdue(at now: Int64) -> (waiter: Waiter, levels: Int32)? { waiting.overdue(at: now) }

    /// True if a slot is free that a waiting job might take.
    func mayStart(behind backlog: DecodeBacklog) -> Bool {
        guard !isSuspended, running < maxConcurrent, case .no = background else { return false }
        return !backlog.isFull(forPrompt: false, running: running)
            || waiting.promptCount > 0 && !backlog.isFull(forPrompt: true, running: running)
    }

    /// Returns what is to start next, if it may. It waits until `started`.
    mutating func next(behind backlog: DecodeBacklog) -> Waiter? {
        guard mayStart(behind: backlog) else { return nil }
        let ordinary = max(1, maxConcurrent - reservedForUrgent)
        let least = runningOrdinary < ordinary ? Priority.veryLow : Self.urgent
        return waiting.next(atLeast: least, isPrompt: backlog.isFull(forPrompt: false, running: running))
    }

    /// The soonest time at which a waiting job may become possible, or the grace time ends; `Int64.max` means never.
    var nextTime: Int64 {
        let graceEnd = if case .grace(let until) = background { until } else { Int64.max }
        return min(graceEnd, waiting.nextRestEnd)
    }
}

// MARK: - Running

extension TransferSlots {
    /// Gives a waiting job a slot.
    mutating func started(_ place: WaitingPlace, priority: Priority, at now: Int64) {
        waiting.started(place, at: now)
        running += 1
        if priority < Self.urgent { runningOrdinary += 1 }
    }

    /// Records that the transfer of a job that has a slot is on the network.
    mutating func began(_ job: Job<Recipient>) { runners[job.id.number] = job }

    /// Frees a job's slot.
    mutating func ended(_ job: Job<Recipient>) {
        running -= 1
        runners[job.id.number] = nil
        if job.priority < Self.urgent { runningOrdinary -= 1 }
        waiting.ended(host: job.host)
    }

    /// Records that a job that has a slot has changed its priority.
    mutating func priorityChanged(from old: Priority, to new: Priority) {
        runningOrdinary += (new < Self.urgent ? 1 : 0) - (old < Self.urgent ? 1 : 0)
    }

    /// The jobs on the network in the order of their ids.
    var onNetwork: [Job<Recipient>] { runners.sortedValues }

    /// The paused jobs on the network, the most urgent first.
    var paused: [Job<Recipient>] {
        runners.values.filter { $0.isPaused }
            .sorted { ($1.priority, $0.id.number) < ($0.priority, $1.id.number) }
    }
}

// MARK: - The whole downloader

extension TransferSlots {
    mutating func suspended(_ isSuspended: Bool) { self.isSuspended = isSuspended }

    /// - Parameter until: the end of the grace time.
    mutating func enteredBackground(until: Int64) { background = .grace(until: until) }

    mutating func enteredForeground() { background = .no }

    /// Ends the grace time, if it is over.
    /// - Returns: true if it has just ended.
    mutating func graceEnded(at now: Int64) -> Bool {
        guard case .grace(let until) = background, until <= now else { return false }
        background = .over
        return true
    }

    /// Returns whether a job on the network should pause. In the foreground it pauses while the decoders are far
    /// behind. In the background it runs only during the grace time, and only if one of its handlers wants that.
    func pauses(_ job: Job<Recipient>, isHeldBack: Bool) -> Bool {
        switch background {
        case .no: isHeldBack
        case .grace: !job.handlers.continueInBackground
        case .over: true
        }
    }
}
