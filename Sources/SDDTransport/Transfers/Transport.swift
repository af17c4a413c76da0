/// Transfers bytes. Owns the network threads, `sdd-net`: one, unless the configuration asks for more. In each turn of
/// its loop, a thread takes commands from the transport's delegate and delivers events to it, both in batches. Knows
/// nothing of images, queues or callers.
package protocol Transport: AnyObject, Sendable {
    /// Starts the threads. Called once, before any other function.
    func start(delegate: any TransportDelegate) throws(TransportError)

    /// Makes the loops of these threads turn soon, so that they take commands. Callable from any thread; cheap; never
    /// blocks.
    func wake(_ threads: NetworkThreads)

    /// Ends the loops. Running transfers are dropped without an event. Callable from any thread; never blocks.
    func stop()

    /// Whether the calling thread is one of the network threads.
    var isOwnThread: Bool { get }

    /// Waits until the threads have ended and everything they owned is freed. Called once, but not on `sdd-net`.
    func join()

    /// Waits like `join()`, but with a time limit, after which the threads are abandoned. Meant for the end of the
    /// process.
    func join(milliseconds: Int64)

    /// The jar of requests that use cookies; `nil` for a transport without cookies.
    var cookies: CookieJar? { get }
}

/// Gives commands to a transport, and receives its events. Thread: `sdd-net` for both functions, with no lock of the
/// transport held; several network threads call them at the same time. All commands of a transfer go to one thread.
package protocol TransportDelegate: AnyObject, Sendable {
    /// Appends the next commands for a network thread, in order. Called at the start of each of its turns.
    /// - Returns: The time of the next call if there is no wake-up before, in microseconds of the monotonic clock;
    ///   `Int64.max` means never.
    func takeCommands(into commands: inout [TransportCommand], for thread: NetworkThreads) -> Int64

    /// Handles the events of a network thread's turn, in order. No event of a transfer comes after its `.finished`, or
    /// after its `.cancel` command was taken.
    func handle(_ events: [TransferEvent], of thread: NetworkThreads)
}
