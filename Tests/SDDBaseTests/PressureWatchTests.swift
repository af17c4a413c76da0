import Glibc
import TestSupport
import Testing

@testable import SDDBase

/// Uses sockets in place of the kernel's files: an urgent byte of TCP is POLLPRI too.
@Suite struct PressureWatchTests {
    @Test func tellsWhichTriggerFired() throws {
        // given
        let (moderate, critical) = (try FakeTrigger(), try FakeTrigger())
        let told = Recorder<MemoryPressure>()
        let watch = try PressureWatch(triggers: [(moderate.trigger, .moderate), (critical.trigger, .critical)]) {
            (($0 == .moderate) ? moderate : critical).settle()
            told.record($0)
        }
        // when, then
        moderate.fire()
        #expect(told.wait(count: 1) == [.moderate])
        critical.fire()
        #expect(told.wait(count: 2) == [.moderate, .critical])
        moderate.fire()
        #expect(told.wait(count: 3) == [.moderate, .critical, .moderate])
        withExtendedLifetime(watch) {}
    }

    @Test func runsOnANamedThreadUntilItIsFreed() throws {
        // given
        let fake = try FakeTrigger()
        let told = Recorder<String>()
        var watch: PressureWatch? = try PressureWatch(triggers: [(fake.trigger, .moderate)]) { _ in
            fake.settle()
            told.record(MachineMemory.smallFile("/proc/thread-self/comm") ?? "")
        }
        fake.fire()
        #expect(told.wait(count: 1) == ["sdd-pressure\n"])
        // when: freeing it waits for the thread
        watch = nil
        fake.fire()
        // then: the handler is not called any more
        #expect(told.all.count == 1)
        #expect(watch == nil)
    }

    @Test func stopsWatchingATriggerThatHungUp() throws {
        // given
        let (gone, other) = (try FakeTrigger(), try FakeTrigger())
        let told = Recorder<MemoryPressure>()
        let watch = try PressureWatch(triggers: [(gone.trigger, .moderate), (other.trigger, .critical)]) {
            other.settle()
            told.record($0)
        }
        // when
        gone.hangUp()
        other.fire()
        // then
        #expect(told.wait(count: 1) == [.critical])
        withExtendedLifetime(watch) {}
    }

    @Test func mayBeFreedInItsHandler() throws {
        // given
        let fake = try FakeTrigger()
        let place = Monitor<PressureWatch?>(nil)
        let done = Expectation()
        let watch = try PressureWatch(triggers: [(fake.trigger, .moderate)]) { _ in
            fake.settle()
            let watch = place.wait { $0.take() }
            withExtendedLifetime(watch) {}
            done.fulfil()
        }
        // when
        fake.fire()
        hand(watch, to: place)
        // then
        #expect(done.wait())
    }

    @Test func reportsWhyNothingCanBeWatched() throws {
        // given
        let folder = try TemporaryFolder()
        // then: no file, and one that cannot be written to
        #expect(throws: SystemError(errno: ENOENT)) {
            try PressureWatch(files: [folder.path("none")]) { _ in }
        }
        #expect(throws: SystemError(errno: EISDIR)) { try PressureWatch(files: [folder.path]) { _ in } }
        #expect(throws: SystemError(errno: ENOENT)) { try PressureWatch(files: []) { _ in } }
    }

    @Test func writesTheThresholdsOfBothLevels() throws {
        // given
        let folder = try TemporaryFolder()
        let file = try folder.write("memory.pressure", String(repeating: "-", count: 40))
        // when: a plain file takes them too, each from its beginning, and never becomes ready
        withExtendedLifetime(try PressureWatch(files: [folder.path("none"), file]) { _ in }) {}
        // then: the last text written, with its NUL
        let text = try #require(MachineMemory.smallFile(file))
        #expect(text == "full 200000 2000000\0" + String(repeating: "-", count: 20))
    }
}

/// Hands the last reference over.
private func hand(_ watch: consuming PressureWatch, to place: Monitor<PressureWatch?>) {
    let watch = watch
    place.withLock { $0 = watch }
    place.broadcast()
}

/// A connection whose other end sends urgent bytes.
private final class FakeTrigger: Sendable {
    let trigger: PressureWatch.Trigger
    private let descriptor: Int32
    private let other: Int32

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        // The socket is not bound: the system chooses a port.
        try #require(listen(listener, 1) == 0)
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Safety: sockaddr_in is what getsockname gives for AF_INET, with its size beside it.
        let isNamed = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &size) == 0 }
        }
        try #require(isNamed)
        other = try connectToLoopback(port: UInt16(bigEndian: address.sin_port))
        descriptor = accept(listener, nil, nil)
        trigger = PressureWatch.Trigger(adopting: descriptor)
    }

    deinit { close(other) }

    func fire() { send(other, "!", 1, Int32(MSG_OOB)) }

    /// Clears the urgent byte, as the kernel's files forget an event once they have reported it.
    func settle() {
        var byte: UInt8 = 0
        recv(descriptor, &byte, 1, Int32(MSG_OOB))
    }

    /// Hangs up, as the file of a removed control group does.
    func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
