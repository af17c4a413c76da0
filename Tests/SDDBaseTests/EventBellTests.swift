import Glibc
import SDDBase
import Testing

@Suite struct EventBellTests {
    @Test func isReadableFromRingToSilence() throws {
        // given
        let bell = try EventBell()
        #expect(!isReadable(bell))
        // when
        bell.ring()
        bell.ring()
        // then
        #expect(isReadable(bell))
        bell.silence()
        #expect(!isReadable(bell))
        bell.ring()
        #expect(isReadable(bell))
    }

    @Test func doesNotBlockWhenSilencedUnrung() throws {
        // given
        let bell = try EventBell()
        // when
        bell.silence()
        // then
        #expect(!isReadable(bell))
    }

    @Test func isNotInheritedByOtherPrograms() throws {
        // given
        let bell = try EventBell()
        // when, then
        #expect(fcntl(bell.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }

    private func isReadable(_ bell: EventBell) -> Bool {
        var watched = pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) == 1
    }
}
