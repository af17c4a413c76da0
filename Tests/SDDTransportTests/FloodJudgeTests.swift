import Testing

@testable import SDDTransport

/// The judge alone, with simulated time and simulated counters of the system.
@Suite struct FloodJudgeTests {
    private static let second: Int64 = 1_000_000
    private static let much: Int64 = 1 << 20

    private func reading(_ number: UInt64, _ taken: Int64?, hasMore: Bool = true) -> OpenSockets.Reading {
        OpenSockets.Reading(number: number, taken: taken, hasMore: hasMore)
    }

    /// Looks four times a second at one turn that began at 1, and returns the first look that found a flood.
    private func found(
        isLate: Bool = false, looks: Int = 12, handedOut: (Int) -> UInt64 = { _ in 7 },
        readings: (Int) -> [OpenSockets.Reading]
    ) -> (look: Int, socket: UInt64)? {
        var judge = FloodJudge()
        for look in 0..<looks {
            let turn = FloodJudge.Turn(began: 1, handedOut: handedOut(look), isLate: isLate)
            let socket = judge.look(turn, at: 1 + Int64(look) * Self.second / 4) { readings(look) }
            if let socket { return (look, socket) }
        }
        return nil
    }

    @Test func findsTheSocketThatDeliversNothing() {
        // given: two sockets, one of which is read all the time
        let found = found { look in [reading(1, 100), reading(2, Int64(look) * Self.much)] }
        // then: as soon as the turn has lasted a second
        #expect(found?.socket == 2)
        #expect(found?.look == 4)
    }

    @Test func decidesSoonerWhenALimitHasExpired() {
        let found = found(isLate: true) { look in [reading(2, Int64(look) * Self.much)] }
        #expect(found?.look == 2)
    }

    @Test func sparesAFastBody() {
        // given: as many bytes are read, but parts of them are handed out
        #expect(found(handedOut: { UInt64($0) }) { look in [reading(1, Int64(look) * Self.much)] } == nil)
    }

    @Test func sparesALoopThatDoesNotRun() {
        // given: the kernel has more and more of a body, and the loop does not read
        #expect(found { _ in [reading(1, 5000)] } == nil)
    }

    @Test func sparesATurnThatReadsLittle() {
        #expect(found { look in [reading(1, Int64(look) * 1000)] } == nil)
    }

    @Test func sparesManyShortTurns() {
        // given
        var judge = FloodJudge()
        for look in 1...40 {
            // when: each look is at another turn
            let now = Int64(look) * Self.second / 4
            let turn = FloodJudge.Turn(began: now - Self.second / 5, handedOut: 7, isLate: true)
            // then
            #expect(judge.look(turn, at: now) { [reading(1, now)] } == nil)
        }
    }

    @Test func sparesALoopBetweenTwoTurns() {
        var judge = FloodJudge()
        let turn = FloodJudge.Turn(began: 0, handedOut: 7, isLate: true)
        #expect(judge.look(turn, at: 60 * Self.second) { [reading(1, Self.much)] } == nil)
    }

    @Test func withoutCountersTakesTheSocketThatAlwaysHasMore() {
        #expect(found { _ in [reading(1, nil, hasMore: false), reading(2, nil)] }?.socket == 2)
    }

    @Test func doesNotCompareNewSockets() {
        // given: each look sees another connection
        #expect(found { look in [reading(UInt64(look), Int64(look) * Self.much)] } == nil)
    }
}
