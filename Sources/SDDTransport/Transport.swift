/// Transfers bytes. Owns one thread, `sdd-net`; in each turn of its loop it takes commands from its delegate and
/// delivers events to it, both in batches. Knows nothing of images, queues or callers.
package protocol Transport: AnyObject, Sendable {
    /// Starts the thread. Called once, before any other function.
    func start(delegate: any TransportDelegate) throws(TransportError)

    /// Makes the loop turn soon, so that it takes commands. Callable from any thread; cheap; never blocks.
    func wake()

    /// Ends the loop. Running transfers are dropped without an event. Callable from any thread; never blocks.
    func stop()

    /// Waits until the thread has ended and everything it owned is freed. Called once, but not on `sdd-net`.
    func join()

    /// Waits like `join()`, but with a time limit, after which the thread is abandoned. Meant for the end of the
    /// process.
    func join(milliseconds: Int64)

    /// The jar of requests that use cookies; `nil` for a transport without cookies.
    var cookies: CookieJar? { get }
}

/// Gives commands to a transport, and receives its events. Thread: `sdd-net` for both functions, with no lock of the
/// transport held.
package protocol TransportDelegate: AnyObject, Sendable {
    /// Appends the next commands, in order. Called at the start of each turn.
    /// - Returns: The time of the next call if there is no wake-up before, in microseconds of the monotonic clock;
    ///   `Int64.max` means never.
    func takeCommands(into commands: inout [TransportCommand]) -> Int64

    /// Handles the events of a turn, in order. No event of a transfer comes after its `.finished`, or after its
    /// `.cancel` command was taken.
    func handle(_ events: [TransferEvent])
}
