import TestSupport
import Testing

@testable import SDDEngine

/// Random calls, compared with a naive model of the rule: an array, searched from end to end, that keeps only the
/// failures of each URL and computes from them when it is allowed again.
@Suite struct FailedURLsWalkTests {
    @Test("F1 F7: the list agrees with a naive model in any order of calls", arguments: 0..<20 as Range<UInt64>)
    func agreesWithANaiveModel(seed: UInt64) {
        var walk = FailedURLsWalk(seed: seed)
        for step in 0..<2000 {
            walk.step()
            #expect(walk.isAgreed, "seed \(seed), step \(step)")
            if !walk.isAgreed { return }
        }
    }
}

private struct FailedURLsWalk {
    /// A failure; times are in seconds, as in the text of the rule.
    private struct Failure {
        let time: Double
        let first: Double
        let longest: Double
        let asked: Double
    }

    private struct Model {
        /// The failures of each URL, ordered by the time of the last one.
        var urls: [(key: String, failures: [Failure])] = []

        mutating func add(_ failure: Failure, to key: String) {
            let before = remove(key) ?? []
            urls.append((key, before + [failure]))
            if urls.count > 4096 { urls.removeFirst() }
        }

        @discardableResult
        mutating func remove(_ key: String) -> [Failure]? {
            guard let place = urls.firstIndex(where: { $0.key == key }) else { return nil }
            return urls.remove(at: place).failures
        }

        /// Returns when the URL is allowed again, computed from all its failures.
        func end(of key: String) -> Double {
            var (wait, end) = (0.0, -1e9)
            for failure in urls.first(where: { $0.key == key })?.failures ?? [] {
                if failure.time >= end + 3600 { wait = 0 }
                if failure.time < end {
                    wait = max(wait, failure.first)
                    end = max(end, failure.time + max(failure.first, failure.asked))
                } else {
                    wait = min(max(2 * wait, failure.first), failure.longest)
                    end = failure.time + max(wait, failure.asked)
                }
            }
            return end
        }
    }

    private var random: SeededRandom
    private var failed = FailedURLs()
    private var model = Model()
    /// The time in seconds, always whole, so that the model computes exactly.
    private var now: Double = 0
    private(set) var isAgreed = true

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    private var time: Int64 { Int64(now) * 1_000_000 }

    mutating func step() {
        let key = "\(Int.random(in: 0..<12, using: &random))"
        now += Double([0, 0, 1, 3, 20, 400, 2000, 4000].randomElement(using: &random) ?? 0)
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<9: fail(key)
        case 9: fail(key, forgotten: true)
        case 10..<17: break
        case 17, 18: succeed(key)
        default: if Int.random(in: 0..<8, using: &random) == 0 { removeAll() }
        }
        for number in 0..<12 {
            let isBlocked = failed.isBlocked("\(number)", at: time)
            if isBlocked != (now < model.end(of: "\(number)")) { isAgreed = false }
        }
    }

    private mutating func fail(_ key: String, forgotten: Bool = false) {
        let isGone = Int.random(in: 0..<4, using: &random) == 0
        let asked = [nil, nil, 10, 700, 5000].randomElement(using: &random) ?? nil
        let status: Int32 = forgotten ? 401 : isGone ? 404 : 503
        failed.record(
            key, DownloadError(.invalidStatusCode, .none, ""), status: status,
            retryAfter: asked.map { Int64($0) * 1_000_000 }, at: time)
        if forgotten { return }
        let failure = Failure(
            time: now, first: isGone ? 60 : 1, longest: isGone ? 3600 : 300, asked: Double(asked ?? 0))
        model.add(failure, to: key)
    }

    private mutating func succeed(_ key: String) {
        if Bool.random(using: &random) { failed.succeeded(key) } else { failed.remove(key) }
        model.remove(key)
    }

    private mutating func removeAll() {
        failed.removeAll()
        model.urls = []
    }
}
