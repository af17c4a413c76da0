internal import CSystem
import Glibc

/// A named pthread with all signals blocked, so that the application's signal handlers never run on it. Its creator
/// must call `join` or `detach` exactly once.
package final class NativeThread: @unchecked Sendable {
    // Safety: set once in `init`, before anyone else can see the object.
    private var handle = pthread_t()

    /// - Throws: the errno of pthread_create.
    package init(name: String, body: @escaping @Sendable () -> Void) throws(SystemError) {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var all = sigset_t()
        var old = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &old)
        let code = pthread_create(
            &handle, nil,
            { argument in
                // Safety: the reference that `passRetained` made for exactly this thread.
                guard let argument else { return nil }
                Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, start.toOpaque())
        pthread_sigmask(SIG_SETMASK, &old, nil)
        guard code == 0 else {
            start.release()
            throw SystemError(errno: code)
        }
    }

    package var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }

    /// Waits for the thread to end. Must not be called on the thread itself.
    package func join() { pthread_join(handle, nil) }

    /// Like `join()`, but with a time limit, for the end of the process. A thread that takes longer is detached.
    package func join(milliseconds: Int64) {
        if sddsys_join_for(handle, milliseconds / 1000) != 0 { detach() }
    }

    /// Detaches the thread, so that it ends on its own and is not joined.
    package func detach() { pthread_detach(handle) }

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        func run() {
            sddsys_name_this_thread(pthread_self(), name)
            body()
        }
    }
}

/// The identity of a thread, valid for comparisons only while that thread lives.
package struct ThreadIdentity: Equatable, Sendable {
    private let number: UInt

    package static var current: ThreadIdentity { ThreadIdentity(number: UInt(pthread_self())) }
}

/// Returns the number of processors that this process may run on, at least 1.
package func availableProcessors() -> Int { Int(sddsys_processors()) }

/// A failed system call, as its errno.
package struct SystemError: Error, Equatable {
    package let errno: Int32

    package init(errno: Int32) { self.errno = errno }
}
