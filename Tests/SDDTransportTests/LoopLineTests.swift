import Testing

@testable import SDDTransport

/// The line between the loop and others, with the steps of the two in every order that matters.
@Suite struct LoopLineTests {
    /// No multi handle at all: one is touched only while somebody sleeps on it.
    private func makeLine() throws -> LoopLine {
        let line = LoopLine(.init(raw: try #require(UnsafeMutableRawPointer(bitPattern: 8))))
        line.close()
        return line
    }

    private func sleeps(_ line: LoopLine) -> Bool {
        var hasSlept = false
        line.sleepUnlessWoken { hasSlept = true }
        return hasSlept
    }

    @Test func sleepsWhenNobodyWantsAnything() throws {
        // given
        let line = try makeLine()
        // when, then
        #expect(line.turnBegins())
        #expect(sleeps(line))
        #expect(line.turnBegins())
    }

    @Test func staysAwakeForAWakeWithinTheTurn() throws {
        // given
        let line = try makeLine()
        #expect(line.turnBegins())
        // when
        line.wake()
        line.wake()
        // then: for one more turn
        #expect(!sleeps(line))
        #expect(line.turnBegins())
        #expect(sleeps(line))
    }

    /// The loop slept on for ever when it had looked for a stop before it took the wake back.
    @Test func seesAStopBetweenTwoTurns() throws {
        // given
        let line = try makeLine()
        #expect(line.turnBegins())
        #expect(sleeps(line))
        // when
        line.stop()
        // then
        #expect(!line.turnBegins())
    }

    @Test func staysAwakeForAStopWithinTheTurn() throws {
        // given
        let line = try makeLine()
        #expect(line.turnBegins())
        // when
        line.stop()
        // then
        #expect(!sleeps(line))
        #expect(!line.turnBegins())
    }
}
