import Glibc
import SDDBase
import Testing

@Suite struct NativeThreadTests {
    @Test func runsItsBodyOnAThreadOfItsOwn() throws {
        // given
        let identity = Monitor<ThreadIdentity?>(nil)
        // when
        let thread = try NativeThread(name: "own") { identity.withLock { $0 = .current } }
        thread.join()
        // then
        #expect(identity.withLock { $0 } != nil)
        #expect(identity.withLock { $0 } != .current)
        #expect(!thread.isCurrent)
    }

    @Test func blocksEverySignalAndLeavesTheCreatorsMaskAlone() throws {
        // given
        let before = blockedSignals()
        let inside = Monitor<[Int32]>([])
        // when
        let thread = try NativeThread(name: "masked") { inside.withLock { $0 = blockedSignals() } }
        thread.join()
        // then: all but the two that cannot be blocked
        let all = (1..<32 as Range<Int32>).filter { $0 != SIGKILL && $0 != SIGSTOP }
        #expect(inside.withLock { $0 } == all)
        #expect(blockedSignals() == before)
    }

    @Test func hasItsName() throws {
        // given
        let name = Monitor("")
        // when
        let thread = try NativeThread(name: "a-name") { name.withLock { $0 = threadName() } }
        thread.join()
        // then
        #expect(name.withLock { $0 } == "a-name")
    }

    @Test func freesItsBodyAtTheEnd() throws {
        // given
        final class Witness: Sendable {}
        weak var gone: Witness?
        var witness: Witness? = Witness()
        gone = witness
        // when
        let thread = try NativeThread(name: "releases") { [held = witness!] in _ = held }
        witness = nil
        thread.join()
        // then
        #expect(gone == nil)
    }

    @Test func runsOnWhenDetached() throws {
        // given
        let done = Monitor(false)
        // when
        try NativeThread(name: "detached") {
            done.withLock { $0 = true }
            done.broadcast()
        }.detach()
        // then
        #expect(done.wait(milliseconds: 30_000) { $0 ? true : nil } == true)
    }

    @Test func countsAtLeastOneProcessor() {
        #expect(availableProcessors() >= 1)
        #expect(availableProcessors() <= sysconf(Int32(_SC_NPROCESSORS_CONF)))
    }
}

private func blockedSignals() -> [Int32] {
    var mask = sigset_t()
    pthread_sigmask(SIG_SETMASK, nil, &mask)
    return (1..<32).filter { sigismember(&mask, $0) == 1 }
}

private func threadName() -> String {
    let file = open("/proc/thread-self/comm", O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes[..<max(0, count - 1)], as: UTF8.self)
}
