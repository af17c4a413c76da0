import SDDBase

/// Delivery on the library's own thread, `sdd-callback`.
extension Delivery {
    /// Functions that the application wants called first and last on the callback thread.
    struct Hooks: Sendable {
        let start: @Sendable () -> Void
        let stop: @Sendable () -> Void
    }

    /// - Parameter atEnd: run on the callback thread when every terminal event has been delivered.
    func startThread(hooks: Hooks, atEnd: @escaping @Sendable () -> Void) throws(SystemError) {
        let thread = try NativeThread(name: "sdd-callback") { [self] in
            hooks.start()
            deliverUntilTheEnd()
            if isForked { return }
            atEnd()
            // Deliver the events that `atEnd` itself has queued.
            while let event = takeNext() { perform(event) }
            hooks.stop()
        }
        self.thread.withLock { $0 = thread }
    }

    /// Delivers events until the end was requested and nothing is outstanding. Thread: sdd-callback.
    private func deliverUntilTheEnd() {
        while let event = nextForThread() {
            perform(event)
            if isForked { return }
        }
    }

    /// Waits for the next event. Returns `nil` once the end was requested and nothing is outstanding. Thread:
    /// sdd-callback.
    private func nextForThread() -> Event? {
        while true {
            if let event = takeNext() { return event }
            let isOver = sleep(milliseconds: -1) { state -> Bool? in
                if !state.queue.isEmpty { return false }
                return state.isFinishing && self.isIdle ? true : nil
            }
            if isOver == true { return nil }
        }
    }

    var isOnCallbackThread: Bool { thread.withLock { $0?.isCurrent ?? false } }
}
