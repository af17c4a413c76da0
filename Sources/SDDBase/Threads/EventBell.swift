internal import CSystem
import Glibc

/// An eventfd(2) that is readable between `ring` and `silence`; it tells the application's event loop about events.
/// Callers use it under their own lock. Closed with the last reference.
package final class EventBell: Sendable {
    package let descriptor: Int32

    package init() throws(SystemError) {
        let descriptor = sddsys_eventfd()
        guard descriptor >= 0 else { throw SystemError(errno: errno) }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    package func ring() { sddsys_eventfd_ring(descriptor) }

    package func silence() { sddsys_eventfd_reset(descriptor) }
}
