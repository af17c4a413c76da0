import SDDBase
import SDDTransport

/// What a downloader's table must do, written the slow and obvious way: lists, searched from end to end.
struct NaiveTable {
    enum Expected: Equatable {
        case success(pixels: Bool)
        case status
        case transport
        case decode
        case cancelled
    }

    struct Handler {
        let token: UInt64
        let priority: Priority
        let wantsPixels: Bool
    }

    enum Stage: Equatable { case waiting, running, decoding }

    struct Job {
        let id: UInt64
        let url: Int?
        var handlers: [Handler]
        var stage = Stage.waiting
        /// When it took its place in the queue of its priority.
        var since: Int
        var size = 0
        var decodeHasBegun = false

        var priority: Priority { handlers.map(\.priority).max() ?? .low }
    }

    var jobs: [Job] = []
    var maxConcurrent: Int
    private var lastJob: UInt64 = 0
    private var clock = 0
    private(set) var pendingCancels: [UInt64] = []

    init(maxConcurrent: Int) { self.maxConcurrent = maxConcurrent }

    var tokens: [UInt64] { jobs.flatMap { $0.handlers.map(\.token) } }
    func ids(in stage: Stage) -> [UInt64] { jobs.filter { $0.stage == stage }.map(\.id) }

    private mutating func tick() -> Int {
        clock += 1
        return clock
    }

    private func index(of id: UInt64) -> Int? { jobs.firstIndex { $0.id == id } }

    /// - Parameter url: nil for a request that is never shared.
    mutating func submit(url: Int?, _ handler: Handler) -> [UInt64: Expected] {
        if let url, let index = jobs.firstIndex(where: { $0.url == url }) {
            if jobs[index].stage == .decoding, !handler.wantsPixels {
                return [handler.token: .success(pixels: false)]
            }
            let before = jobs[index].priority
            jobs[index].handlers.append(handler)
            if jobs[index].priority != before { jobs[index].since = tick() }
            return [:]
        }
        lastJob += 1
        jobs.append(Job(id: lastJob, url: url, handlers: [handler], since: tick()))
        return [:]
    }

    mutating func cancel(_ token: UInt64) -> [UInt64: Expected] {
        guard let index = jobs.firstIndex(where: { $0.handlers.contains { $0.token == token } }) else { return [:] }
        let before = jobs[index].priority
        jobs[index].handlers.removeAll { $0.token == token }
        if jobs[index].handlers.isEmpty {
            if jobs[index].stage == .running { pendingCancels.append(jobs[index].id) }
            jobs.remove(at: index)
        } else if jobs[index].priority != before {
            jobs[index].since = tick()
        }
        return [token: .cancelled]
    }

    /// - Returns: what is ended and what is started, in order.
    mutating func ask(backlogLimit: Int) -> (cancelled: [UInt64], started: [UInt64]) {
        defer { pendingCancels = [] }
        var started: [UInt64] = []
        while jobs.filter({ $0.stage == .running }).count < maxConcurrent,
            jobs.filter({ $0.stage == .decoding && !$0.decodeHasBegun }).map(\.size).reduce(0, +) <= backlogLimit,
            let next = jobs.filter({ $0.stage == .waiting })
                .sorted(by: { ($1.priority, $0.since) < ($0.priority, $1.since) }).first,
            let index = index(of: next.id)
        {
            jobs[index].stage = .running
            started.append(next.id)
        }
        return (pendingCancels, started)
    }

    mutating func refuse(_ id: UInt64) -> [UInt64: Expected] {
        pendingCancels.append(id)
        return end(id, as: .status)
    }

    mutating func fail(_ id: UInt64) -> [UInt64: Expected] { end(id, as: .transport) }

    /// - Returns: who has ended, and whether the rest waits for a picture.
    mutating func arrive(_ id: UInt64, size: Int) -> (ended: [UInt64: Expected], decodes: Bool) {
        guard let index = index(of: id) else { return ([:], false) }
        let bytesOnly = jobs[index].handlers.filter { !$0.wantsPixels }
        let ended = Dictionary(uniqueKeysWithValues: bytesOnly.map { ($0.token, Expected.success(pixels: false)) })
        jobs[index].handlers.removeAll { !$0.wantsPixels }
        if jobs[index].handlers.isEmpty {
            jobs.remove(at: index)
            return (ended, false)
        }
        jobs[index].stage = .decoding
        jobs[index].size = size
        return (ended, true)
    }

    /// - Returns: whether it is worth it.
    mutating func beginDecode(_ id: UInt64) -> Bool {
        guard let index = index(of: id), jobs[index].stage == .decoding, !jobs[index].decodeHasBegun else {
            return false
        }
        jobs[index].decodeHasBegun = true
        return true
    }

    mutating func decode(_ id: UInt64, succeeds: Bool) -> [UInt64: Expected] {
        end(id, as: succeeds ? .success(pixels: true) : .decode)
    }

    private mutating func end(_ id: UInt64, as expected: Expected) -> [UInt64: Expected] {
        guard let index = index(of: id) else { return [:] }
        let job = jobs.remove(at: index)
        return Dictionary(uniqueKeysWithValues: job.handlers.map { ($0.token, expected) })
    }
}
