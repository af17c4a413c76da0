import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// Watched requests in random order, and what must hold in any order. `RandomWalkTests` checks which transfers run and
/// wait.
@Suite struct ProgressiveDecodeWalkTests {
    @Test(
        "X30 X39 X40: previews, facts and early ends in any order of events", arguments: 1...6 as ClosedRange<UInt64>)
    func invariantsHoldInAnyOrder(seed: UInt64) throws {
        var walk = try ProgressiveDecodeWalk(seed: seed)
        for step in 0..<TestLength.count(6000, short: 1500) {
            do { try walk.step() } catch {
                Issue.record("seed \(seed), step \(step)")
                throw error
            }
        }
        try walk.end()
    }
}

/// Plays transport, decode threads and callers, each of which knows only the commands and events it got.
private struct ProgressiveDecodeWalk {
    struct Transfer {
        var hasResponded = false
        var isShown = false
        var received = 0
    }

    let driver: Driver
    var random: SeededRandom
    var requests: [UInt64: DownloadRequest] = [:]
    var transfers: [UInt64: Transfer] = [:]
    /// The work of the decode threads.
    var works: [DecodeWork] = []

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        driver = try Driver {
            $0.maxConcurrent = 4
            (
                $0.progressive.streams, $0.progressive.leastBytes, $0.progressive.patience,
                $0.progressive.previewMicroseconds
            ) = (2, 500, 100, 50)
        }
    }

    private mutating func happens(one inSo: Int) -> Bool { Int.random(in: 0..<inSo, using: &random) == 0 }

    mutating func step() throws {
        driver.now += Int64.random(in: 1...40, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<14: try submit()
        case 14..<18: driver.cancel(UInt64.random(in: 0...driver.lastToken, using: &random))
        case 18..<20: driver.setPriority(.high, of: UInt64.random(in: 0...driver.lastToken, using: &random))
        case 20..<32: obey()
        case 32..<60: receive()
        case 60..<64: finish()
        case 64..<82: try takeWork()
        default: try endWork()
        }
        try check()
    }

    /// Lets everything finish.
    mutating func end() throws {
        for _ in 0..<1000 where !driver.table.jobs.isEmpty {
            obey()
            for id in transfers.keys.sorted() { finish(id) }
            try takeWork()
            while !works.isEmpty { try endWork() }
            try check()
        }
        try #require(driver.hasNothingAhead && driver.table.slots.running == 0 && driver.table.decoding.isEmpty)
        try #require(driver.ended.count == requests.count)
        for (token, request) in requests where request.wantsFacts && driver.ended[token]?.error == nil {
            try #require(driver.facts[token]?.count == 1)
        }
    }

    private mutating func submit() throws {
        var request = try Sample.request("http://host/\(Int.random(in: 0..<5, using: &random))")
        request.wantsPixels = !happens(one: 4)
        request.form = DecodeOptions(format: happens(one: 3) ? .grey8 : .rgba8)
        request.wantsPreviews = request.wantsPixels && happens(one: 2)
        request.wantsFacts = happens(one: 2)
        request.endsEarly = request.wantsPixels && !happens(one: 3)
        requests[driver.submit(request)] = request
    }

    /// One turn of the transport.
    private mutating func obey() {
        for order in driver.commands() {
            switch order {
            case .start(let id, _): transfers[id] = Transfer()
            case .cancel(let id): transfers[id] = nil
            case .show(let id): transfers[id]?.isShown = true
            case .pause, .resume, .setPriority: break
            }
        }
    }

    private mutating func receive() {
        guard let (id, transfer) = transfers.sorted(by: { $0.key < $1.key }).randomElement(using: &random) else {
            return
        }
        guard transfer.hasResponded else {
            driver.respond(id, expected: happens(one: 3) ? -1 : 100_000)
            transfers[id]?.hasResponded = true
            return
        }
        let received = transfer.received + Int.random(in: 1...6000, using: &random)
        transfers[id]?.received = received
        driver.receive(id, Int64(received))
        if transfer.isShown { driver.report(.body(TransferID(id), Sample.body(received))) }
    }

    private mutating func finish() {
        guard let id = transfers.keys.sorted().randomElement(using: &random) else { return }
        finish(id)
    }

    private mutating func finish(_ id: UInt64) {
        let transfer = transfers.removeValue(forKey: id)
        if transfer?.hasResponded == false { driver.respond(id) }
        if happens(one: 5) { driver.fail(id) } else { driver.finish(id, size: transfer?.received ?? 0) }
    }

    private mutating func takeWork() throws {
        guard let work = driver.nextWork() else { return }
        // Only one step at a time for one transfer.
        try #require(!works.contains { $0.id == work.id })
        works.append(work)
    }

    private mutating func endWork() throws {
        guard !works.isEmpty else { return }
        let work = works.remove(at: Int.random(in: 0..<works.count, using: &random))
        let fails = happens(one: 8)
        switch work.step {
        case .decode(let forms, _):
            let step = PictureStream.Step(pictures: forms.map { ($0, .success(Made.image($0))) })
            let outcome = fails ? Decoded.failure(CoderError(.corrupt)) : .success(step)
            driver.play { $0.decoded(work.id, outcome, Made.facts, at: driver.now) }
        case .advance(_, let part):
            if fails { return driver.advanced(work.id.number, failure: .corrupt) }
            var step = PictureStream.Step(facts: happens(one: 2) ? nil : Made.facts)
            if part.wantsPreviews { step.previews = part.forms.map { ($0, Made.image($0, isPreview: true)) } }
            if part.endsEarly, step.facts != nil, happens(one: 3) {
                step.pictures = part.forms.map { ($0, .success(Made.image($0))) }
            }
            driver.advanced(work.id.number, step)
        case .process: Issue.record("no work of the application was requested")
        }
    }

    private func check() throws {
        let jobs = driver.table.jobs.sorted
        try #require(driver.table.decoding.streamCount == jobs.count { $0.progressive?.stream != nil })
        try #require(driver.table.decoding.stepCount == jobs.count { $0.progressive?.place != nil })
        let waiting = jobs.filter { if case .received = $0.stage { true } else { false } }
        try #require(driver.table.decoding.backlog.total == waiting.map { $0.body?.count ?? 0 }.reduce(0, +))
        try #require(jobs.allSatisfy { $0.progressive?.place == nil || $0.progressive?.isWorking == false })
        for (token, facts) in driver.facts {
            try #require(facts.count == 1 && requests[token]?.wantsFacts == true)
        }
        for (token, previews) in driver.previews {
            guard let request = requests[token], let last = previews.last else { continue }
            try #require(request.wantsPreviews && last.image?.form == request.form)
        }
        for (token, result) in driver.ended where result.error == nil {
            guard let request = requests[token] else { continue }
            try #require((result.image != nil) == request.wantsPixels)
            try #require(result.bytes != nil || request.endsEarly)
        }
    }
}
