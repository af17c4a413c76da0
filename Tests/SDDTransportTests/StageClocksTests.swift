import Testing

@testable import SDDTransport

/// The clocks alone, with simulated time.
@Suite struct StageClocksTests {
    private func clocks(
        connect: Int64 = 0, firstByte: Int64 = 0, stall: Int64 = 0, slowness: Int64 = 0, countsConnect: Bool = true
    ) -> StageClocks {
        var limits = TransferClocks()
        limits.connect = connect
        limits.firstByte = firstByte
        limits.stall = stall
        limits.slowness = slowness
        limits.leastBytesPerSecond = 1000
        return StageClocks(limits, countsConnect: countsConnect, startedAt: 1_000_000)
    }

    @Test func countsTheConnectFromItsStart() {
        // given
        var clocks = clocks(connect: 10, firstByte: 1, stall: 2)
        // then
        #expect(clocks.look(at: 1_000_000) == .later(1_010_000))
        #expect(clocks.look(at: 1_009_999) == .later(1_010_000))
        #expect(clocks.look(at: 1_010_000) == .expired(.connectTimeout))
    }

    @Test func theSilenceLimitBoundsAConnectWithoutOne() {
        var silent = clocks(stall: 2)
        var unlimited = clocks()
        #expect(silent.look(at: 1_002_000) == .expired(.stall))
        #expect(unlimited.look(at: .max - 1) == .later(.max))
    }

    @Test func leavesTheConnectToLibcurlIfTransfersAreQueued() {
        var clocks = clocks(connect: 10, stall: 2, countsConnect: false)
        #expect(clocks.look(at: .max - 1) == .later(.max))
    }

    @Test func theEarlierOfFirstByteAndSilenceCounts() {
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

    @Test func bytesThatAreNotDeliveredYetAreNoSilence() {
        // given
        var clocks = clocks(stall: 10, slowness: 30)
        #expect(clocks.lastHeard == nil)
        clocks.connected(hasBody: false, at: 2_000_000)
        #expect(clocks.look(at: 2_010_000) == .expired(.stall))
        #expect(clocks.lastHeard == 2_000_000)
        // when
        clocks.heard(at: 2_008_000, moved: 0, now: 2_010_000)
        // then
        #expect(clocks.look(at: 2_010_000) == .later(2_018_000))
        // and when a window of the limit on slowness has ended
        clocks.received(at: 2_015_000)
        clocks.heard(at: 2_044_000, moved: 0, now: 2_044_000)
        #expect(clocks.look(at: 2_045_000) == .expired(.tooSlow))
        clocks.heard(at: 2_044_500, moved: 0, now: 2_045_000)
        // then the next one begins
        #expect(clocks.look(at: 2_045_000) == .later(2_054_500))
        // and while a body is sent, nothing has to come
        clocks.connected(hasBody: true, at: 3_000_000)
        #expect(clocks.lastHeard == nil)
    }

    @Test func theFirstByteLimitStartsWhenTheBodyIsSent() {
        // given
        var clocks = clocks(firstByte: 80, stall: 800)
        clocks.connected(hasBody: true, at: 2_000_000)
        // then: they look every eighth of the shortest limit meanwhile
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

    @Test func onlySilenceCountsOnceAResponseHasBegun() {
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

    @Test func standsStillWhilePaused() {
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

    @Test func survivesTheLargestLimits() {
        var clocks = clocks(connect: .max, firstByte: .max, stall: .max, slowness: .max)
        #expect(clocks.look(at: 1_000_000) == .later(.max))
        clocks.connected(hasBody: true, at: 2_000_000)
        if case .expired = clocks.look(at: 2_000_000) { Issue.record("over before it began") }
    }

    // MARK: - Slowness: 1000 bytes a second, over 20 ms: 20 bytes

    @Test func endsATooSlowResponse() {
        // given
        var clocks = clocks(stall: 10, slowness: 20)
        clocks.connected(hasBody: false, at: 2_000_000)
        // when: a byte every 9 ms, never silent
        clocks.received(at: 2_009_000)
        clocks.received(at: 2_018_000)
        clocks.received(at: 2_027_000)
        // then: counted from the first byte on
        #expect(clocks.look(at: 2_028_999) { 19 } == .later(2_029_000))
        #expect(clocks.look(at: 2_029_000) { 19 } == .expired(.tooSlow))
    }

    @Test func countsEachWindowSeparately() {
        // given: enough bytes in the first window
        var clocks = clocks(slowness: 20)
        clocks.connected(hasBody: false, at: 2_000_000)
        clocks.received(at: 2_000_000)
        #expect(clocks.look(at: 2_020_000) { 1_000_000 } == .later(2_040_000))
        // then: the second window is as long, starting where the first ended
        #expect(clocks.look(at: 2_040_000) { 1_000_020 } == .later(2_060_000))
        #expect(clocks.look(at: 2_060_000) { 1_000_039 } == .expired(.tooSlow))
    }

    @Test func countsSentBytes() {
        // given
        var clocks = clocks(slowness: 20)
        clocks.connected(hasBody: true, at: 2_000_000)
        // then
        #expect(clocks.look(at: 2_020_000) { 20 } != .expired(.tooSlow))
        #expect(clocks.look(at: 2_040_000) { 39 } == .expired(.tooSlow))
    }

    @Test func doesNotCountTheWaitForTheResponse() {
        // given: everything is sent, and no response arrives
        var clocks = clocks(slowness: 20)
        clocks.connected(hasBody: true, at: 2_000_000)
        clocks.sentAll(100, at: 2_001_000)
        #expect(clocks.look(at: 9_000_000) { 100 } == .later(.max))
        // when
        clocks.received(at: 9_000_000)
        // then: bytes that were sent are not part of the response
        #expect(clocks.look(at: 9_020_000) { 119 } == .expired(.tooSlow))
    }

    @Test func watchesABodyThatIsSentDuringTheResponse() {
        // given
        var clocks = clocks(stall: 80)
        clocks.connected(hasBody: true, at: 2_000_000)
        clocks.received(at: 2_001_000)
        // then
        #expect(clocks.isSending)
        #expect(clocks.look(at: 2_001_000) == .later(2_011_000))
        // when
        clocks.sentAll(at: 2_011_000)
        // then
        #expect(!clocks.isSending)
        #expect(clocks.look(at: 2_011_000) == .later(2_081_000))
    }

    @Test func doesNotCountPausesOfTheLibrary() {
        // given: half a window
        var clocks = clocks(stall: 50, slowness: 20)
        clocks.connected(hasBody: false, at: 2_000_000)
        clocks.received(at: 2_000_000)
        // when: paused for a second, and the sink blocked for a part of it and longer
        clocks.pause(at: 2_010_000)
        clocks.sinkBlocked(at: 2_500_000)
        clocks.resume(at: 3_010_000)
        clocks.sinkDrained(at: 3_040_000)
        // then: the other half is left
        #expect(clocks.look(at: 3_049_999) { 0 } == .later(3_050_000))
        #expect(clocks.look(at: 3_050_000) { 0 } == .expired(.tooSlow))
    }

    @Test func aWindowHasAtLeastOneByte() {
        var limits = TransferClocks()
        (limits.slowness, limits.leastBytesPerSecond) = (1, 1)
        var clocks = StageClocks(limits, startedAt: 0)
        clocks.connected(hasBody: false, at: 0)
        clocks.received(at: 0)
        #expect(clocks.look(at: 1000) { 1 } == .later(2000))
        #expect(clocks.look(at: 2000) { 1 } == .expired(.tooSlow))
    }

    // MARK: - A blocked sink

    @Test func aBlockedSinkHasTheSilenceLimit() {
        // given: silence that is not the server's fault, however long it lasts
        var clocks = clocks(stall: 10, slowness: 5)
        clocks.connected(hasBody: false, at: 2_000_000)
        clocks.received(at: 2_000_000)
        clocks.sinkBlocked(at: 2_001_000)
        clocks.sinkBlocked(at: 2_005_000)
        // then
        #expect(clocks.look(at: 2_010_999) == .later(2_011_000))
        #expect(clocks.look(at: 2_011_000) == .expired(.sinkBlocked))
        // when: the sink takes a part
        clocks.sinkTookSome(at: 2_010_000)
        // then
        #expect(clocks.look(at: 2_019_999) == .later(2_020_000))
        #expect(clocks.look(at: 2_020_000) == .expired(.sinkBlocked))
    }

    @Test func bytesReceivedWhileASinkBlocksDoNotCount() {
        // given: over HTTP/2, bytes that arrive meanwhile are kept
        var clocks = clocks(stall: 10)
        clocks.connected(hasBody: false, at: 2_000_000)
        clocks.received(at: 2_000_000)
        clocks.sinkBlocked(at: 2_001_000)
        clocks.received(at: 2_008_000)
        clocks.sinkDrained(at: 2_009_000)
        // then: ten milliseconds from here, not seventeen
        #expect(clocks.look(at: 2_009_000) == .later(2_019_000))
    }
}
