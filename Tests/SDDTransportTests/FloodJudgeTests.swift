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
            let socket = judge.look(at: 1 + Int64(look) * Self.second / 4, turn: { turn }) { readings(look) }
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
        #expect(found?.look == 3)
    }

    @Test func sparesBytesThatAreTakenOnce() {
        // given: the loop gets the processor only to take much at once, which it has yet to deliver
        #expect(found(isLate: true) { look in [reading(1, look < 6 ? 5000 : Self.much)] } == nil)
    }

    @Test func findsOneOfTwoSocketsThatFloodByTurns() {
        let found = found { look in
            let taken = Int64(look) * Self.much
            return [reading(1, taken + Int64(look % 2) * 1000), reading(2, taken - Int64(look % 2) * 1000)]
        }
        #expect(found?.look == 4)
    }

    @Test func sparesAFastBody() {
        // given: as many bytes are read, but parts of them are handed out
        #expect(found(handedOut: { UInt64($0) }) { look in [reading(1, Int64(look) * Self.much)] } == nil)
    }

    @Test func sparesABodyThatIsDeliveredDuringALook() {
        // given: the loop reads much and hands it out while the watch is between the turn's state and the sockets'
        var judge = FloodJudge()
        var handedOut: UInt64 = 7
        for look in 0..<12 {
            // when
            let turn = { FloodJudge.Turn(began: 1, handedOut: handedOut, isLate: true) }
            let socket = judge.look(at: 1 + Int64(look) * Self.second / 4, turn: turn) {
                if look == 6 { handedOut += 3 }
                return [reading(1, look < 6 ? 5000 : Self.much)]
            }
            // then
            #expect(socket == nil, "look \(look)")
        }
    }

    @Test func sparesABodyOfATurnThatEndsDuringALook() {
        // given: the next turn takes much and has not handed it out yet
        var judge = FloodJudge()
        var began: Int64 = 1
        for look in 0..<8 {
            // when
            let turn = { FloodJudge.Turn(began: began, handedOut: 7, isLate: true) }
            let now = 1 + Int64(look) * Self.second / 4
            let socket = judge.look(at: now, turn: turn) {
                if look == 6 { began = now + 1 }
                return [reading(1, look < 6 ? 5000 : Self.much)]
            }
            // then
            #expect(socket == nil, "look \(look)")
        }
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
            #expect(judge.look(at: now, turn: { turn }) { [reading(1, now)] } == nil)
        }
    }

    @Test func sparesALoopBetweenTwoTurns() {
        var judge = FloodJudge()
        let turn = FloodJudge.Turn(began: 0, handedOut: 7, isLate: true)
        #expect(judge.look(at: 60 * Self.second, turn: { turn }) { [reading(1, Self.much)] } == nil)
    }

    @Test func withoutCountersTakesTheSocketThatAlwaysHasMore() {
        #expect(found { _ in [reading(1, nil, hasMore: false), reading(2, nil)] }?.socket == 2)
    }

    @Test func doesNotCompareNewSockets() {
        // given: each look sees another connection
        #expect(found { look in [reading(UInt64(look), Int64(look) * Self.much)] } == nil)
    }
}
