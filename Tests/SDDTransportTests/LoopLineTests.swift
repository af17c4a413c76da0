import Testing

@testable import SDDTransport

/// The signalling between the loop and other threads, with the steps of the two in every order that matters.
@Suite struct LoopLineTests {
    /// Makes a line without a multi handle, which is only used while a thread sleeps on it.
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

    @Test func sleepsWhenNotWoken() throws {
        // given
        let line = try makeLine()
        // when, then
        #expect(line.turnBegins())
        #expect(sleeps(line))
        #expect(line.turnBegins())
    }

    @Test func staysAwakeAfterAWakeDuringTheTurn() throws {
        // given
        let line = try makeLine()
        #expect(line.turnBegins())
        // when
        line.wake()
        line.wake()
        // then: it stays awake for one more turn
        #expect(!sleeps(line))
        #expect(line.turnBegins())
        #expect(sleeps(line))
    }

    /// The loop would sleep forever if it checked for a stop before it cleared the wake-up.
    @Test func noticesAStopBetweenTwoTurns() throws {
        // given
        let line = try makeLine()
        #expect(line.turnBegins())
        #expect(sleeps(line))
        // when
        line.stop()
        // then
        #expect(!line.turnBegins())
    }

    @Test func staysAwakeAfterAStopDuringTheTurn() throws {
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
