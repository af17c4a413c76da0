internal import CSystem
import Glibc

/// Writes all of the bytes to a descriptor without raising SIGPIPE. Callable from any thread.
/// - Returns: 0 on success, or errno, in which case a part may have been written.
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

/// Runs `body` with SIGPIPE blocked and discards the signal if `body` raised it. Writing to a pipe without a reader
/// would otherwise end the application's process, possibly on one of its own threads.
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
