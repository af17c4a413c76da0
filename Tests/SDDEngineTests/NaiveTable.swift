import SDDBase
import SDDCoders

@testable import SDDEngine

/// The behaviour of a downloader's table, written in the slow and obvious way: lists, searched from end to end.
/// Everything that the table derives, such as which transfers run and how urgent they are, is computed anew here each
/// time.
///
/// The events are in `NaiveTable+Requests`, `+Caching` and `+Transport`.
struct NaiveTable {
    /// One request.
    struct Wish {
        /// Requests whose shares are equal share a transfer; nil for a request that never does.
        struct Share: Equatable { let url: Int, work: Work, asks: Bool }
        enum Work: UInt { case none, transform, modifier }

        let token: UInt64
        let share: Share?
        let work: Work
        /// Whether a cache is asked first.
        var asks = false
        /// 0 means no host.
        let host: Int
        var priority: Priority
        let wantsPixels: Bool
        let format: PixelFormat
        let continues: Bool
        let accepts: Accepts
        let queueLimit: Int64
        let totalLimit: Int64
        /// 0 means the limit of the rules.
        var maxAttempts: Int32 = 0
        /// The attempts of its job before it joined.
        var attemptsBefore: Int32 = 0
    }

    enum Accepts: CaseIterable { case standard, everything, notFound, images }

    /// The properties of a response that requests judge.
    struct Verdict: Equatable { let status: Int32, type: String }

    /// The result of a request.
    struct End: Equatable {
        let token: UInt64
        var error: DownloadError.Code?
        var detail = DownloadError.Detail.none
        /// The format of the picture.
        var format: PixelFormat?
        var hasBytes = false
    }

    enum Stage: Equatable { case asking, waiting, running, received, working, pausing }

    struct Job {
        /// The id, which is new for each attempt.
        var id: UInt64
        let share: Wish.Share?
        let work: Wish.Work
        let host: Int
        var handlers: [Wish]
        var stage = Stage.waiting
        /// The order in which it entered its priority class, and the time of that.
        var arrival: Int
        var age: Int64
        var boost: Int32 = 0
        var asks = false
        /// The number of attempts that have started, and whether this one has.
        var attempts: Int32 = 0
        var isStarted = false
        var pauseEnd: Int64 = 0
        var isPaused = false
        var hasResponded = false
        var verdict: Verdict?
        var needsWork: Bool
        var hasBody = false
        var size = 0
        /// The bytes received while it runs.
        var received: Int64 = 0
        var workBegan: Int64 = 0
        /// The formats that the decode under way makes.
        var decoding: [PixelFormat] = []

        var priority: Priority {
            (handlers.map(\.priority).max() ?? .veryLow).raised(by: boost)
        }
    }

    struct Deadline { let time: Int64, token: UInt64, isQueue: Bool }

    enum Background { case no, grace(until: Int64), over }

    var jobs: [Job] = []
    var deadlines: [Deadline] = []
    var maxConcurrent: Int, maxPerHost: Int, reserved: Int
    var isLIFO = false
    /// The least time between two starts to a host, and the hosts for which one was within that time.
    var minHostInterval: Int64 = 0
    var rests: [(start: Int64, host: Int)] = []
    var retry = RetryPolicy()
    /// The generator of the table, with the same seed.
    var jitter = XorShift(seed: 1)
    /// By host: the retries that are used up, and the successes since one was earned back.
    var spent: [Int: (retries: Int, successes: Int)] = [:]
    let ageing: Int64
    var isSuspended = false
    var background = Background.no
    var isClosing = false
    var now: Int64 = 0

    // Output that has not been taken yet.
    var ends: [End] = []
    var commands: [Order] = []
    /// Transfers for which a cache must be asked.
    var asked: [UInt64] = []
    var newWork = 0
    var promised = Int64.max
    var statistics = Statistics()
    private var lastJob: UInt64 = 0
    private var lastArrival = 0

    init(maxConcurrent: Int, maxPerHost: Int, reserved: Int, ageing: Int64) {
        self.maxConcurrent = maxConcurrent
        self.maxPerHost = maxPerHost
        self.reserved = reserved
        self.ageing = ageing
    }

    var tokens: [UInt64] { jobs.flatMap { $0.handlers.map(\.token) } }
    func jobs(in stage: Stage) -> [Job] { jobs.filter { $0.stage == stage } }
    func index(of id: UInt64) -> Int? { jobs.firstIndex { $0.id == id } }
    func index(waitedForBy token: UInt64) -> Int? {
        jobs.firstIndex { $0.handlers.contains { $0.token == token } }
    }

    mutating func newID() -> UInt64 {
        lastJob += 1
        return lastJob
    }

    mutating func arrival() -> Int {
        lastArrival += 1
        return lastArrival
    }
}

// MARK: - Scheduling

extension NaiveTable {
    private var mayStart: Bool {
        guard case .no = background, !isSuspended else { return false }
        return jobs(in: .running).count < maxConcurrent
            && jobs(in: .received).map(\.size).reduce(0, +) <= 8 << 20
    }

    mutating func fill() {
        rests.removeAll { $0.start + minHostInterval <= now }
        guard mayStart, !jobs(in: .waiting).isEmpty else { return }
        raiseOverdue()
        while mayStart, let index = next() {
            jobs[index].stage = .running
            jobs[index].received = 0
            jobs[index].isStarted = true
            jobs[index].attempts += 1
            if minHostInterval > 0, jobs[index].host != 0 { rests.append((now, jobs[index].host)) }
            statistics.transfersStarted += 1
            commands.append(.start(jobs[index].id, jobs[index].priority))
        }
    }

    /// Returns the most urgent of the jobs that may start now.
    private func next() -> Int? {
        let ordinary = jobs.filter { $0.stage == .running && $0.priority < .high }.count
        let isFull = ordinary >= max(1, maxConcurrent - reserved)
        let candidates = jobs.indices.filter { index in
            let job = jobs[index]
            guard job.stage == .waiting, !isFull || job.priority >= .high else { return false }
            if rests.contains(where: { $0.host == job.host }) { return false }
            return job.host == 0 || jobs.filter { $0.stage == .running && $0.host == job.host }.count < maxPerHost
        }
        return candidates.min { a, b in
            let (a, b) = (jobs[a], jobs[b])
            if a.priority != b.priority { return a.priority > b.priority }
            return isLIFO ? a.arrival > b.arrival : a.arrival < b.arrival
        }
    }

    private mutating func raiseOverdue() {
        guard ageing > 0 else { return }
        let overdue = jobs.indices.filter {
            jobs[$0].stage == .waiting && jobs[$0].priority < .veryHigh && now - jobs[$0].age >= ageing
        }
        // Jobs that leave a class enter the next one in their old order.
        for index in overdue.sorted(by: {
            (jobs[$1].priority, jobs[$0].arrival) < (jobs[$0].priority, jobs[$1].arrival)
        }) {
            let before = jobs[index].priority
            jobs[index].boost += Int32(min((now - jobs[index].age) / ageing, 5))
            priorityChanged(index, from: before)
        }
    }

    mutating func priorityChanged(_ index: Int, from before: Priority) {
        let after = jobs[index].priority
        guard after != before else { return }
        switch jobs[index].stage {
        case .waiting: (jobs[index].arrival, jobs[index].age) = (arrival(), now)
        case .running: commands.append(.setPriority(jobs[index].id, after))
        case .received: jobs[index].arrival = arrival()
        case .asking, .working, .pausing: break
        }
    }

    mutating func updatePause(_ index: Int) {
        guard jobs[index].stage == .running else { return }
        let pauses =
            switch background {
            case .no: false
            case .grace: !jobs[index].handlers.contains { $0.continues }
            case .over: true
            }
        guard pauses != jobs[index].isPaused else { return }
        jobs[index].isPaused = pauses
        commands.append(pauses ? .pause(jobs[index].id) : .resume(jobs[index].id))
    }
}
