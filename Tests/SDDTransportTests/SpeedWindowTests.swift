import Testing

@testable import SDDTransport

/// Windows of one second, each of which must bring 1,000 bytes.
@Suite struct SpeedWindowTests {
    private var window: SpeedWindow

    init() {
        var limits = TransferClocks()
        (limits.slowness, limits.leastBytesPerSecond) = (1000, 1000)
        window = SpeedWindow(limits)
    }

    @Test mutating func aWindowThatBringsTooLittleFails() {
        window.begin(at: 0, moved: 0)
        #expect(window.nextLook == 1_000_000)
        #expect(!window.isTooSlow(at: 1_000_000) { 1000 })
        #expect(!window.isTooSlow(at: 1_999_999) { 1000 } && window.isTooSlow(at: 2_000_000) { 1999 })
    }

    @Test mutating func aWindowIsExtendedByARest() {
        window.begin(at: 100, moved: 0)
        window.rested(since: 200, until: 700)
        #expect(window.nextLook == 1_000_600)
    }

    @Test("a window that begins during a rest is extended only by the rest of it")
    mutating func aWindowThatBeginsDuringARest() {
        window.begin(at: 500, moved: 0)
        window.rested(since: 200, until: 700)
        #expect(window.nextLook == 1_000_700)
    }
}
