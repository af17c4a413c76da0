import TestSupport
import Testing

@testable import SDDEngine

/// All events of a downloader's table, in random order.
@Suite struct RandomWalkTests {
    @Test(
        "Z3 Z4 Z5 Z6: the table agrees with a naive model in any order of events",
        arguments: 1...8 as ClosedRange<UInt64>)
    func agreesWithANaiveModelInAnyOrder(seed: UInt64) throws {
        var walk = try RandomWalk(seed: seed)
        for step in 0..<TestLength.count(12_500, short: 4000) {
            do { try walk.step() } catch {
                Issue.record("seed \(seed), step \(step)")
                throw error
            }
        }
        try walk.end(cancels: seed % 3 == 0)
    }
}
