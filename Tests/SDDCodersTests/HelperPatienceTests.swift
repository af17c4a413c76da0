import Testing

@testable import SDDCoders

@Suite struct HelperPatienceTests {
    private func patience(_ milliseconds: Int64, perMiB: Int64 = 0, byteCount: Int = 0) -> HelperPatience {
        var limits = DecodeLimits()
        (limits.milliseconds, limits.millisecondsPerMiB) = (milliseconds, perMiB)
        return HelperPatience(limits, byteCount: byteCount)
    }

    /// `#expect` cannot call a mutating function.
    private func isOver(_ patience: inout HelperPatience, at now: Int64, cpuTime: Int64) -> Bool {
        patience.isOver(at: now, cpuTime: cpuTime)
    }

    @Test func allowsTwiceTheTimeOnTheProcessorAndEightTimesAndEightSecondsOfTheClock() {
        #expect(patience(100).cpu == 200_000)
        #expect(patience(100).wall == 8_800_000)
        #expect(patience(100, perMiB: 1024, byteCount: 2 << 20).cpu == 4_296_000)
    }

    @Test func hasNoLimitWhereDecodingHasNone() {
        var endless = patience(0, perMiB: 1000, byteCount: 1 << 30)
        endless.begin(at: 0)
        #expect(!isOver(&endless, at: .max / 2, cpuTime: .max / 2))
    }

    @Test func survivesTheLargestNumbers() {
        let largest = patience(.max, perMiB: .max, byteCount: .max)
        #expect((largest.cpu ?? 0) > 0 && (largest.wall ?? 0) > 0)
    }

    @Test func countsTheProcessorFromTheFirstLook() {
        var patience = patience(100)
        patience.begin(at: 1_000_000)
        #expect(!isOver(&patience, at: 1_200_000, cpuTime: 5_000_000))
        #expect(!isOver(&patience, at: 1_400_000, cpuTime: 5_200_000))
        #expect(isOver(&patience, at: 1_600_000, cpuTime: 5_200_001))
    }

    @Test func endsAProcessThatSleeps() {
        var patience = patience(100)
        patience.begin(at: 1_000_000)
        #expect(!isOver(&patience, at: 9_800_000, cpuTime: 0))
        #expect(isOver(&patience, at: 9_800_001, cpuTime: 0))
    }

    @Test func endsAProcessWhoseTimeIsUnknown() {
        var patience = patience(100)
        patience.begin(at: 0)
        #expect(!isOver(&patience, at: 8_000_000, cpuTime: -1))
        #expect(isOver(&patience, at: 8_900_000, cpuTime: -1))
    }
}
