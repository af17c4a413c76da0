internal import Glibc
internal import SDDBase

/// Where a body goes that is not kept: to a descriptor, or nowhere. Owned by its request; one transfer writes to
/// it, never two. Thread: where the body arrives, one call at a time.
package final class BodySink: Sendable {
    /// nil: nowhere.
    private let descriptor: Int32?
    private let accepts: @Sendable (Response) -> Bool

    /// - Parameters:
    ///   - descriptor: duplicated; nil: what comes is dropped.
    ///   - accepts: whether a body with this response is wanted. What is not is dropped, for the engine to refuse.
    /// - Returns: nil if it is not an open descriptor, or there are no more.
    package init?(descriptor: Int32?, accepts: @escaping @Sendable (Response) -> Bool) {
        self.accepts = accepts
        guard let descriptor else {
            self.descriptor = nil
            return
        }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        self.descriptor = copy
        if copy < 0 { return nil }
    }

    deinit { if let descriptor, descriptor >= 0 { close(descriptor) } }

    func takes(_ response: Response) -> Bool { descriptor != nil && accepts(response) }

    /// - Returns: errno; 0 for success.
    func write(_ bytes: UnsafeRawPointer, count: Int) -> Int32 {
        guard let descriptor else { return 0 }
        var done = 0
        return Self.withoutSIGPIPE {
            while done < count {
                let written = Glibc.write(descriptor, bytes + done, count - done)
                if written < 0 && errno == EINTR { continue }
                guard written > 0 else { return written < 0 ? errno : EIO }
                done += written
            }
            return 0
        }
    }

    /// A pipe whose reader is gone would raise it, and end the host's process: on a thread of the host's it is blocked
    /// meanwhile, and taken back if it has come.
    private static func withoutSIGPIPE(_ body: () -> Int32) -> Int32 {
        var pipe = sigset_t()
        var old = sigset_t()
        var pending = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        sigpending(&pending)
        let wasPending = sigismember(&pending, SIGPIPE) == 1
        pthread_sigmask(SIG_BLOCK, &pipe, &old)
        let code = body()
        if code == EPIPE && !wasPending {
            var now = timespec()
            while sigtimedwait(&pipe, nil, &now) < 0 && errno == EINTR {}
        }
        pthread_sigmask(SIG_SETMASK, &old, nil)
        return code
    }
}
