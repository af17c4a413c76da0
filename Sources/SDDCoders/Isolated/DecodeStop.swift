internal import CHelper
import Synchronization

/// Tells a decode thread that nobody waits for the picture any more that it is decoding. Whoever waits for a helper looks
/// at it, and ends the helper. Callable from any thread.
package final class DecodeStop: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package func stop() { flag.store(true, ordering: .relaxed) }

    package var isStopped: Bool { flag.load(ordering: .relaxed) }

    /// Runs `body` on the calling thread, where `current` is `stop` meanwhile.
    package static func watching(_ stop: DecodeStop?, _ body: () -> Void) {
        guard let stop else { return body() }
        // Safety: `stop` lives until the end of this function, where the thread forgets it.
        sddhelper_set_stop(Unmanaged.passUnretained(stop).toOpaque())
        body()
        sddhelper_set_stop(nil)
        withExtendedLifetime(stop) {}
    }

    /// What the calling thread's work is stopped by; `nil` if that is nothing.
    static var current: DecodeStop? {
        sddhelper_stop().map { Unmanaged<DecodeStop>.fromOpaque($0).takeUnretainedValue() }
    }
}
