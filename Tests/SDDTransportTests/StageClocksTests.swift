import Testing

@testable import SDDTransport

/// The clocks alone, with numbers for time.
@Suite struct StageClocksTests {
    private func clocks(
        connect: Int64 = 0, firstByte: Int64 = 0, stall: Int64 = 0, countsConnect: Bool = true
    ) -> StageClocks {
        var limits = TransferClocks()
        limits.connect = connect
        limits.firstByte = firstByte
        limits.stall = stall
        return StageClocks(limits, countsConnect: countsConnect, startedAt: 1_000_000)
    }

    @Test func countsTheConnectFromItsStart() {
        // given
        let clocks = clocks(connect: 10, firstByte: 1, stall: 2)
        // then
        #expect(clocks.look(at: 1_000_000) == .later(1_010_000))
        #expect(clocks.look(at: 1_009_999) == .later(1_010_000))
        #expect(clocks.look(at: 1_010_000) == .expired(.connectTimeout))
    }

    @Test func boundsAConnectWithoutALimitByTheSilence() {
        #expect(clocks(stall: 2).look(at: 1_002_000) == .expired(.stall))
        #expect(clocks().look(at: .max - 1) == .later(.max))
    }

    @Test func leavesTheConnectToLibcurlWhereTransfersAreHeldBack() {
        #expect(clocks(connect: 10, stall: 2, countsConnect: false).look(at: .max - 1) == .later(.max))
    }

    @Test func takesTheNearerOfFirstByteAndSilence() {
        // given
        var short = clocks(firstByte: 5, stall: 10)
        var long = clocks(firstByte: 10, stall: 5)
        // when
        short.connected(hasBody: false, at: 2_000_000)
        long.connected(hasBody: false, at: 2_000_000)
        // then
        #expect(short.look(at: 2_005_000) == .expired(.firstByteTimeout))
        #expect(long.look(at: 2_005_000) == .expired(.stall))
    }

    @Test func beginsTheFirstByteWhenTheBodyIsSent() {
        // given
        var clocks = clocks(firstByte: 80, stall: 800)
        clocks.connected(hasBody: true, at: 2_000_000)
        // then: looked at every eighth of the shortest limit meanwhile
        #expect(clocks.isSending)
        #expect(clocks.look(at: 2_000_000) == .later(2_010_000))
        #expect(clocks.look(at: 2_500_000) == .later(2_510_000))
        // when
        clocks.sentAll(at: 2_600_000)
        // then
        #expect(!clocks.isSending)
        #expect(clocks.look(at: 2_600_000) == .later(2_680_000))
        #expect(clocks.look(at: 2_680_000) == .expired(.firstByteTimeout))
    }

    @Test func asksNothingButBytesOnceAnAnswerHasBegun() {
        // given
        var clocks = clocks(connect: 1, firstByte: 1, stall: 10)
        clocks.connected(hasBody: false, at: 2_000_000)
        // when
        clocks.received(at: 2_000_500)
        clocks.received(at: 2_009_000)
        // then
        #expect(clocks.look(at: 2_018_999) == .later(2_019_000))
        #expect(clocks.look(at: 2_019_000) == .expired(.stall))
    }

    @Test func restsWhilePaused() {
        // given
        var clocks = clocks(firstByte: 5, stall: 10)
        clocks.connected(hasBody: false, at: 2_000_000)
        // when
        clocks.pause(at: 2_004_000)
        clocks.pause(at: 2_009_000)
        #expect(clocks.look(at: 9_000_000) == .later(.max))
        clocks.resume(at: 9_004_000)
        clocks.resume(at: 9_999_000)
        // then: one of five milliseconds is left
        #expect(clocks.look(at: 9_004_000) == .later(9_005_000))
        #expect(clocks.look(at: 9_005_000) == .expired(.firstByteTimeout))
    }

    @Test func bearsTheLargestLimits() {
        var clocks = clocks(connect: .max, firstByte: .max, stall: .max)
        #expect(clocks.look(at: 1_000_000) == .later(.max))
        clocks.connected(hasBody: true, at: 2_000_000)
        if case .expired = clocks.look(at: 2_000_000) { Issue.record("over before it began") }
    }
}
