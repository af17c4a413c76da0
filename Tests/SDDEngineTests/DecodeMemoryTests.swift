import SDDBase
import SDDCoders
import Testing

@testable import SDDEngine

/// Who may decode when memory is short.
@Suite struct DecodeMemoryTests {
    let memory = DecodeMemory()

    init() { memory.setLimit(100) }

    @Test func givesRoomUpToTheLimit() {
        let (one, other) = (memory.makeAccount(), memory.makeAccount())
        let first = one.reserve(60, waits: false)
        let second = other.reserve(40, waits: false)
        #expect(first != nil && second != nil && memory.used == 100)
        #expect(one.reserve(1, waits: false) == nil && other.reserve(1, waits: false) == nil)
    }

    @Test func lateReferencesGiveItBack() {
        let account = memory.makeAccount()
        var first = account.reserve(60, waits: false)
        first?.shrink(to: 10)
        #expect(memory.used == 10)
        // Never more.
        first?.shrink(to: 50)
        #expect(memory.used == 10)
        first = nil
        #expect(memory.used == 0)
    }

    @Test func whoHasNothingIsLetIn() {
        let (one, other) = (memory.makeAccount(), memory.makeAccount())
        let large = one.reserve(1000, waits: false)
        let alone = other.reserve(500, waits: true)
        #expect(large != nil && alone != nil)
        #expect(one.reserve(1, waits: false) == nil)
    }

    @Test func waitsUntilThereIsRoom() throws {
        // given
        let account = memory.makeAccount()
        let first = account.reserve(80, waits: false)
        let got = Monitor(false)
        let thread = try NativeThread(name: "waiter") {
            let second = account.reserve(30, waits: true)
            got.withLock { $0 = second != nil }
            got.broadcast()
        }
        // when
        first?.shrink(to: 70)
        // then
        #expect(got.wait(milliseconds: 30_000) { $0 ? true : nil } == true)
        thread.join()
        #expect(memory.used == 70)
    }

    @Test func nobodyWaitsForADownloaderThatEnds() throws {
        // given
        let account = memory.makeAccount()
        let first = account.reserve(80, waits: false)
        let outcome = Monitor<Bool?>(nil)
        let thread = try NativeThread(name: "waiter") {
            let second = account.reserve(30, waits: true)
            outcome.withLock { $0 = second == nil }
            outcome.broadcast()
        }
        // when
        account.close()
        // then
        #expect(outcome.wait(milliseconds: 30_000) { $0 } == true)
        thread.join()
        #expect(first != nil && memory.used == 80)
    }

    @Test func aHigherLimitLetsGoOn() throws {
        let account = memory.makeAccount()
        let first = account.reserve(80, waits: false)
        let got = Monitor(false)
        let thread = try NativeThread(name: "waiter") {
            let second = account.reserve(30, waits: true)
            got.withLock { $0 = second != nil }
            got.broadcast()
        }
        memory.setLimit(110)
        #expect(got.wait(milliseconds: 30_000) { $0 ? true : nil } == true)
        thread.join()
        withExtendedLifetime(first) {}
    }
}
