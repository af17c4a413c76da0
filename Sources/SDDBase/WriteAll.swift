internal import CSystem
import Glibc

/// Writes all of some bytes to a descriptor, and raises no SIGPIPE. Any thread.
/// - Returns: errno, after which a part may have been written; 0 for success.
package func writeAll(_ bytes: UnsafeRawPointer, count: Int, to descriptor: Int32) -> Int32 {
    var done = 0
    return withoutSIGPIPE {
        while done < count {
            let written = write(descriptor, bytes + done, count - done)
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return written < 0 ? errno : EIO }
            done += written
        }
        return 0
    }
}

/// A pipe whose reader is gone would raise it, and end the host's process: on a thread of the host's it is blocked
/// meanwhile, and taken back if it has come.
package func withoutSIGPIPE(_ body: () -> Int32) -> Int32 {
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
