import SDDBase

/// Delivery on the application's own threads, and the waits for idleness and for the end in both delivery modes.
extension Delivery {
    /// Makes the calling thread the dispatcher, and releases the objects that `drain` had lent.
    private func enter() throws(Failure) {
        let me = ThreadIdentity.current
        let (drained, lent) = try state.withLock { state throws(Failure) -> ([Listener], [AnyObject]) in
            guard state.dispatcher == nil || state.dispatcher == me else { throw .busy }
            state.dispatcher = me
            state.depth += 1
            defer { (state.drained, state.lent) = ([], []) }
            return (state.drained, state.lent)
        }
        withExtendedLifetime(lent) {
            for listener in drained where !isForked { release(listener) }
        }
    }

    /// - Returns: true if the end was requested inside one of the calls that have now returned.
    private func leave() -> Bool {
        if isForked { return false }
        let (isOutermost, concludes) = state.withLock { state in
            state.depth -= 1
            guard state.depth == 0 else { return (false, false) }
            state.dispatcher = nil
            defer { state.concludesOnLeave = false }
            return (true, state.concludesOnLeave)
        }
        if isOutermost { state.broadcast() }
        return concludes
    }

    /// Calls the callbacks of at most `max` events; 0 means all that are queued now. Application-driven delivery only.
    /// - Parameter atEnd: run if a callback destroyed the downloader.
    func dispatch(max: Int, atEnd: () -> Void) throws(Failure) -> Int {
        try enter()
        defer { if leave() { conclude(atEnd: atEnd) } }
        return dispatchEntered(max: max)
    }

    private func dispatchEntered(max: Int) -> Int {
        var left = max > 0 ? max : state.withLock { $0.queue.count }
        var count = 0
        while left > 0, let event = takeNext() {
            perform(event)
            count += 1
            left -= 1
        }
        return count
    }

    /// Passes at most `max` events to `take`, and calls no callback. The objects that `take` returns are kept until the
    /// next call. Application-driven delivery only.
    func drain(max: Int, take: (Event) -> AnyObject?, atEnd: () -> Void) throws(Failure) -> Int {
        try enter()
        // The application may have destroyed the downloader while previously drained objects were released.
        defer { if leave() { conclude(atEnd: atEnd) } }
        // If the end was requested while lent objects were released, events taken now would be released along with the
        // rest.
        if isForked || state.withLock({ $0.concludesOnLeave }) { return 0 }
        var count = 0
        while count < max, let event = takeNext() {
            if let lent = take(event) { state.withLock { $0.lent.append(lent) } }
            switch event {
            case .end(_, let result), .cached(_, let result): result.delivered()
            default: break
            }
            if let listener = event.ended {
                state.withLock { state in
                    listener.isOver = true
                    state.drained.append(listener)
                }
                settled()
            }
            count += 1
        }
        return count
    }

    /// Releases the objects that `drain` had lent, then waits until an event is queued. Application-driven delivery
    /// only.
    func waitForEvent(milliseconds: Int64, atEnd: () -> Void) throws(Failure) {
        try enter()
        if leave() { conclude(atEnd: atEnd) }
        let outcome = sleep(milliseconds: milliseconds) { state -> Result<Void, Failure>? in
            if !state.queue.isEmpty { return .success(()) }
            return state.isFinishing ? .failure(.closed) : nil
        }
        guard let outcome else { throw .timedOut }
        try outcome.get()
    }

    /// Waits until no terminal event is outstanding. In application-driven mode, delivers events meanwhile.
    func waitUntilIdle(milliseconds: Int64, time: some TimeSource, atEnd: () -> Void) throws(Failure) {
        if isAppDriven {
            try dispatchUntilIdle(milliseconds: milliseconds, time: time, atEnd: atEnd)
            return
        }
        if isOnCallbackThread { throw .wouldDeadlock }
        idlers.withLock { $0 += 1 }
        defer { idlers.withLock { $0 -= 1 } }
        guard idlers.wait(milliseconds: milliseconds, until: { _ in isIdle ? true : nil }) != nil else {
            throw .timedOut
        }
    }

    private func dispatchUntilIdle(milliseconds: Int64, time: some TimeSource, atEnd: () -> Void) throws(Failure) {
        let me = ThreadIdentity.current
        if state.withLock({ $0.dispatcher == me }) { throw .wouldDeadlock }
        try enter()
        defer { if leave() { conclude(atEnd: atEnd) } }
        let (deadline, never) = (time.monotonicMicroseconds() / 1000).addingReportingOverflow(milliseconds)
        while true {
            _ = dispatchEntered(max: 0)
            if isIdle || isForked { return }
            let left = milliseconds < 0 || never ? -1 : max(0, deadline - time.monotonicMicroseconds() / 1000)
            let woken = sleep(milliseconds: left) { state in !state.queue.isEmpty || self.isIdle ? true : nil }
            if woken == nil { throw .timedOut }
        }
    }
}

// MARK: - The end

extension Delivery {
    /// Delivers all outstanding events, then runs `atEnd`. Called once, after every job has ended. Waits until that is
    /// done, unless called inside a callback; then it happens after that callback has returned.
    func finish(atEnd: () -> Void) {
        let me = ThreadIdentity.current
        let isInside = state.withLock { state in
            state.isFinishing = true
            state.concludesOnLeave = state.dispatcher == me
            return state.concludesOnLeave
        }
        state.broadcast()
        if isAppDriven {
            if !isInside { conclude(atEnd: atEnd) }
            return
        }
        guard let thread = thread.withLock({ $0 }) else { return }
        if thread.isCurrent { thread.detach() } else { thread.join() }
    }

    /// Like `finish`, on a thread that the callback thread will wait for. Not for application-driven delivery.
    func finishWithoutWaiting() {
        state.withLock { $0.isFinishing = true }
        state.broadcast()
        thread.withLock { $0 }?.detach()
    }

    /// Delivers everything outstanding on the calling thread. Application-driven delivery only.
    private func conclude(atEnd: () -> Void) {
        // Another thread may be inside a callback; wait until it returns.
        while (try? enter()) == nil {
            _ = sleep(milliseconds: -1) { state in state.dispatcher == nil ? true : nil }
        }
        while !isIdle {
            _ = dispatchEntered(max: 0)
            if isForked { return }
            _ = sleep(milliseconds: -1) { state in !state.queue.isEmpty || self.isIdle ? true : nil }
        }
        _ = dispatchEntered(max: 0)
        _ = leave()
        atEnd()
        // Deliver the events that `atEnd` itself has queued.
        while let event = takeNext() { perform(event) }
    }
}

extension DeliveryEvent<Listener> {
    /// The listener whose last event this is, or `nil` if more events may follow.
    var ended: Listener? {
        switch self {
        case .end(let listener, _): listener
        case .prefetch(let listener, let event): event.isEnd ? listener : nil
        default: nil
        }
    }
}
