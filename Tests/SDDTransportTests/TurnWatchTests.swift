import Glibc
import SDDBase
import Testing

@testable import SDDTransport

/// The thread of the watch; what it decides is tested with `FloodJudge`.
@Suite struct TurnWatchTests {
    private func end(_ watch: TurnWatch) {
        watch.end()
        watch.join()
    }

    @Test("the thread ends when there are no turns, and the next turn starts it again")
    func idleThreadEnds() throws {
        // given
        let watch = TurnWatch(time: SystemTime(), idleMilliseconds: 1)
        try watch.start()
        for _ in 0..<3 {
            while watch.hasThread { sched_yield() }
            // when
            watch.turnBegins(deadline: .max)
            // then
            #expect(watch.hasThread)
            watch.turnEnds()
        }
        end(watch)
        #expect(!watch.hasThread)
    }

    @Test("an ended watch starts no thread")
    func endedWatchStartsNothing() throws {
        // given
        let watch = TurnWatch(time: SystemTime(), idleMilliseconds: 1)
        try watch.start()
        while watch.hasThread { sched_yield() }
        end(watch)
        // when
        watch.turnBegins(deadline: .max)
        // then
        #expect(!watch.hasThread)
    }
}
