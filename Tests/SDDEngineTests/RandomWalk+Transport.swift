import SDDBase
import SDDCoders
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

// MARK: - Transport and decode threads

extension RandomWalk {
    private static let small = Sample.body(10)
    private static let large = Sample.body(5 << 20)

    static func body(_ size: Int) -> Bytes {
        size == small.count ? small : size == large.count ? large : Sample.body(size)
    }

    mutating func ask() throws {
        let (given, wanted) = (driver.turn(), model.transportAsks())
        try #require(given.commands == wanted.commands)
        try #require(given.deadline == wanted.deadline)
    }

    mutating func verdict() -> NaiveTable.Verdict {
        NaiveTable.Verdict(
            status: [200, 200, 200, 206, 0, 304, 404, 500].randomElement(using: &random) ?? 200,
            type: ["image/png", "image/png", "text/html", ""].randomElement(using: &random) ?? "")
    }

    mutating func respond() {
        let candidates = model.jobs(in: .running).filter { !$0.hasResponded }
        guard let job = candidates.randomElement(using: &random) else { return }
        respond(job, verdict())
    }

    private mutating func respond(_ job: NaiveTable.Job, _ verdict: NaiveTable.Verdict) {
        driver.respond(job.id, verdict.status, type: verdict.type, expected: 10)
        model.respond(job.id, verdict)
    }

    mutating func receive() {
        let candidates = model.jobs(in: .running).filter { $0.hasResponded }
        guard let job = candidates.randomElement(using: &random) else { return }
        driver.receive(job.id, 5)
        model.receive(job.id, 5)
    }

    mutating func finish() {
        guard let job = model.jobs(in: .running).randomElement(using: &random) else { return }
        if Int.random(in: 0..<4, using: &random) == 0 {
            driver.fail(job.id)
            model.fail(job.id)
        } else {
            arrive(job, size: [0, 10, 10, 5 << 20].randomElement(using: &random) ?? 0)
        }
    }

    mutating func arrive(_ job: NaiveTable.Job, size: Int) {
        if !job.hasResponded { respond(job, NaiveTable.Verdict(status: 200, type: "image/png")) }
        let status = driver.table.jobs[job.id]?.response?.status
        driver.finish(job.id, .success(Self.body(size)))
        model.arrive(job.id, size: size, status: status)
    }

    mutating func askAsDecoder() {
        let (given, wanted) = (driver.nextWork(), model.decoderAsks())
        #expect(given?.id.number == wanted?.id)
        guard let given, let wanted else { return }
        switch given.step {
        case .decode: #expect(!wanted.isAppWork)
        case .process: #expect(wanted.isAppWork)
        case .advance: Issue.record("a progressive step, though no request watches and no body is slow")
        }
    }

    mutating func endWork() {
        guard let job = model.jobs(in: .working).randomElement(using: &random) else { return }
        end(job)
    }

    mutating func end(_ job: NaiveTable.Job) {
        guard job.needsWork else {
            let succeeds = Int.random(in: 0..<3, using: &random) > 0
            driver.decoded(job.id, failure: succeeds ? nil : .corrupt)
            return model.decoded(job.id, succeeds: succeeds)
        }
        // Only a modifier changes a response that has been judged.
        let verdict = job.work == .modifier ? verdict() : job.verdict ?? verdict()
        let judged = Judged(.init(verdict.status, verdict.type), of: Response(status: 0))
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            driver.processed(job.id, .refused)
            model.processed(job.id, .refused)
        case 1:
            driver.processed(job.id, .nothing(judged))
            model.processed(job.id, .nothing(verdict))
        default:
            let size = [0, 10, 5 << 20].randomElement(using: &random) ?? 0
            driver.processed(job.id, .done(judged, Self.body(size)))
            model.processed(job.id, .done(verdict, size: size))
        }
    }

    /// Sends events of transfers that are over, or not yet that far: the table must ignore them.
    mutating func playWhatIsOver() {
        let id = UInt64.random(in: 0...driver.lastToken, using: &random)
        let stage = model.jobs.first { $0.id == id }?.stage
        guard stage != .running, stage != .working else { return }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: if stage != .asking { driver.answer(id, .network(nil)) }
        case 5: driver.respond(id)
        case 1: driver.receive(id, 100)
        case 2: driver.finish(id)
        case 3: driver.decoded(id)
        default: driver.processed(id, .refused)
        }
    }
}

// MARK: - Comparison

extension RandomWalk {
    mutating func check() throws {
        let wakes = driver.table.takeWakes()
        try #require(wakes.decoders == model.newWork)
        try #require(wakes.transport.isEmpty != (!model.commands.isEmpty || model.nextDeadline < model.promised))
        model.newWork = 0
        try checkAsked()
        try checkEnds()
        try checkStatistics()
        // One of them is checked each time.
        guard let job = model.jobs.randomElement(using: &random), let handler = job.handlers.first else { return }
        try #require(driver.effectivePriority(of: handler.token) == job.priority)
    }

    private mutating func checkEnds() throws {
        try #require(driver.endOrder == model.ends.map(\.token))
        for wanted in model.ends {
            let result = try #require(driver.ended[wanted.token])
            let given = NaiveTable.End(
                token: wanted.token, error: result.error?.code, detail: result.error?.detail ?? .none,
                format: result.image?.pixels.format, hasBytes: result.bytes != nil)
            try #require(given == wanted)
        }
        model.ends = []
        driver.forgetEnds()
    }

    private func checkStatistics() throws {
        let waiting = model.jobs(in: .waiting).count + model.jobs(in: .pausing).count
        let running = model.jobs(in: .running).count
        let asking = model.jobs(in: .asking).count
        var wanted = model.statistics
        (wanted.waiting, wanted.running) = (Int64(waiting), Int64(running))
        wanted.decoding = Int64(model.jobs.count - waiting - running - asking)
        wanted.receivingBytes = model.jobs(in: .running).map(\.received).reduce(0, +)
        wanted.waitingBytes = Int64(model.jobs(in: .received).map(\.size).reduce(0, +))
        try #require(driver.table.currentStatistics == wanted)
        try #require(driver.table.currentDownloadCount == waiting + running)
    }
}
