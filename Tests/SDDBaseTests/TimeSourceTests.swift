import SDDBase
import TestSupport
import Testing

@Suite struct TimeSourceTests {
    @Test func neverGoesBack() {
        // given
        let time = SystemTime()
        // when
        let readings = (0..<1000).map { _ in time.monotonicMicroseconds() }
        // then
        #expect(readings == readings.sorted())
    }

    @Test func standsStillUntilTheTestMovesIt() {
        // given
        let time = ManualTime(microseconds: 5)
        // when
        time.advance(milliseconds: 2)
        // then
        #expect(time.monotonicMicroseconds() == 2005)
    }
}
