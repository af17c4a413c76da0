import TestSupport
import Testing

@testable import SDDEngine

/// Random events of many loads, at their current stage and at others.
@Suite struct LoadWalkTests {
    @Test("Z1 M4-M26: any order of events agrees with a naive model", arguments: 0..<20 as Range<UInt64>)
    func anyOrderOfEventsAgreesWithANaiveModel(seed: UInt64) throws {
        var walk = try LoadWalk(seed: seed)
        for step in 0..<5000 {
            try walk.step()
            try #require(walk.flaw == nil, "seed \(seed), step \(step): \(walk.flaw ?? "")")
        }
        walk.endAll()
        #expect(walk.flaw == nil, "seed \(seed), at the end: \(walk.flaw ?? "")")
        #expect(walk.endings.count >= 8, "too few kinds of ends: \(walk.endings)")
    }
}

private struct LoadWalk {
    private var random: SeededRandom
    private let driver: LoadDriver
    private var naive: NaiveLoads
    private var count = 0
    private var ended: [String: Int] = [:]
    /// The kinds of ends that have occurred.
    private(set) var endings: Set<String> = []
    private(set) var flaw: String?

    private static let urls = ["u", "v", "w", "x", "y", "z", ""]
    private static let contents: [LoadDriver.Content] = [.nothing, .nothing, .pixels, .encoded]
    private static let flaws: [DownloadError?] = [nil, nil, .badImage, .lost, .cancelledDecoding, .tookTooLong]
    private static let errors: [DownloadError?] = [
        nil, nil, nil, .badImage, .lost, .lost, .notModified, .tookTooLong, .closed, .cancelledSending,
    ]

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        let (consults, judges) = (seed % 2 == 1, seed / 2 % 2 == 1)
        driver = try LoadDriver(consults: consults, judges: judges)
        naive = NaiveLoads(consults: consults, judges: judges)
    }

    private mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    mutating func step() throws {
        driver.now += Int64.random(in: 0...3, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<25: try submit()
        case 25..<85: if let name = naive.loads.keys.sorted().randomElement(using: &random) { goOn(name) }
        case 85..<92: cancel(anyName())
        case 92..<95:
            driver.lookAtClocks()
            check(naive.lookAtClocks(at: driver.now), "look at the clocks")
        default: stray(anyName())
        }
    }

    /// Returns one of the last forty loads, some of which have ended.
    private mutating func anyName() -> String { "\(max(0, count - Int.random(in: 0..<40, using: &random)))" }

    private mutating func submit() throws {
        count += 1
        let urls = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            Self.urls.randomElement(using: &random) ?? ""
        }
        var options: RequestOptions = []
        if one(in: 2) { options.insert(.retryFailed) }
        if one(in: 3) { options.insert(.refreshCached) }
        if one(in: 6) { options.insert(.fromCacheOnly) }
        if one(in: 4) { options.insert(.waitStoreCache) }
        let limit = one(in: 4) ? Int64.random(in: 1...40, using: &random) : 0
        let (asks, stores) = (!one(in: 4), !one(in: 4))
        let plan = try LoadPlan.sample(urls, options: options, asks: asks, stores: stores, limit: limit)
        let load = NaiveLoads.Load(
            name: "\(count)", urls: urls, options: options, asks: asks, stores: stores,
            end: limit == 0 ? nil : driver.now + limit)
        driver.submit(load.name, plan)
        check(naive.submit(load, at: driver.now), "submit \(plan.options) \(urls)")
    }

    /// Completes the operation that is under way for a load.
    private mutating func goOn(_ name: String) {
        let now = driver.now
        switch naive.loads[name]?.stage {
        case .asking?: answer(name)
        case .making?: make(name)
        case .consulting?:
            let mayFetch = !one(in: 3)
            driver.consult(name, mayFetch: mayFetch)
            check(naive.consult(name, mayFetch: mayFetch, at: now), "consult \(name)")
        case .fetching?: if one(in: 8) { find(name) } else { fetch(name) }
        case .judging(let code)?:
            let decision = [true, false, nil, nil].randomElement(using: &random) ?? nil
            driver.judge(name, DownloadError(code, .none, "no"), isBlocked: decision)
            check(naive.judge(name, decision: decision, at: now), "judge \(name)")
        case .storing?: store(name)
        case nil: break
        }
    }

    private mutating func answer(_ name: String) {
        let content = Self.contents.randomElement(using: &random) ?? .nothing
        driver.answer(name, content)
        check(naive.answer(name, content, at: driver.now), "answer \(name)")
    }

    private mutating func make(_ name: String) {
        let error = Self.flaws.randomElement(using: &random) ?? nil
        driver.make(name, error)
        check(naive.make(name, error, at: driver.now), "make \(name)")
    }

    private mutating func fetch(_ name: String) {
        let error = Self.errors.randomElement(using: &random) ?? nil
        driver.fetch(name, error)
        check(naive.fetch(name, error, at: driver.now), "fetch \(name)")
    }

    private mutating func find(_ name: String) {
        driver.find(name)
        check(naive.find(name), "find \(name)")
    }

    private mutating func store(_ name: String) {
        driver.store(name)
        check(naive.store(name), "store \(name)")
    }

    private mutating func cancel(_ name: String) {
        let expected = naive.cancel(name)
        agree(driver.cancel(name) == (expected != nil), "cancel \(name) said otherwise")
        check(expected ?? [], "cancel \(name)")
    }

    /// Sends an event for a load that may be over or at another stage.
    private mutating func stray(_ name: String) {
        // The end of a request is the same event while the image is made and while it is fetched.
        if [.making, .fetching].contains(naive.loads[name]?.stage) { return answer(name) }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: answer(name)
        case 1: fetch(name)
        case 2: store(name)
        default: find(name)
        }
    }

    mutating func endAll() {
        while let name = naive.loads.keys.min(), flaw == nil { goOn(name) }
        agree(driver.table.count == 0, "something is left")
        agree(ended.count == count && ended.values.allSatisfy { $0 == 1 }, "not each has ended once")
    }

    private mutating func check(_ expected: [String], _ event: String) {
        let decided = driver.take()
        agree(decided == expected, "after \(event): \(decided) and not \(expected)")
        for words in decided.map({ $0.split(separator: " ") }) where words.first == "finish" && words.count == 3 {
            ended["\(words[1])", default: 0] += 1
            endings.insert("\(words[2])")
        }
        agree(driver.table.count == naive.loads.count, "another number of loads")
        for url in Self.urls where driver.isBlocked(url) != naive.blocked.contains(url) {
            agree(false, "after \(event): \(url) is blocked, or is not")
        }
    }

    private mutating func agree(_ isSo: Bool, _ otherwise: String) {
        if !isSo, flaw == nil { flaw = otherwise }
    }
}
