import SDDBase
import SDDCoders
import Synchronization

/// Delivers events to the application in order, with no lock held: on a thread of its own, `sdd-callback`, or on the
/// thread from which the application asks for events. Counts outstanding terminal events, so that the downloader does
/// not end before every accepted request has had its own.
final class Delivery: Sendable {
    typealias Event = DeliveryEvent<Listener>
    typealias Batch = EventBatch<Listener>
    typealias Failure = DeliveryFailure

    struct State {
        var queue = LinkedList<Event>()
        /// Bytes that the queued results hold.
        var undeliveredBytes = 0
        /// Threads blocked in `sleep`, which must be signalled when an event is queued.
        var sleepers = 0
        var isFinishing = false
        /// True if the end was requested inside a callback: the thread that leaves the outermost call concludes the
        /// delivery.
        var concludesOnLeave = false
        /// True while `bell` is readable.
        var isRinging = false
        /// The thread that is delivering events and the nesting depth of its calls. Application-driven delivery only.
        var dispatcher: ThreadIdentity?
        var depth = 0
        /// Listeners whose last events `drain` handed out. They are released at the next call.
        var drained: [Listener] = []
        /// Objects lent with the drained events.
        var lent: [AnyObject] = []
        /// The ticket of the batch to queue next, and the batches that arrived before their turn.
        var nextTicket: UInt64 = 1
        var early: [UInt64: Batch] = [:]
        /// The observers of transfers and of log messages.
        var observer: (any Observer)?
        var logObserver: (any Observer)?
    }

    let state = Monitor(State())
    /// The number of threads that wait for `isIdle`. They have a condition of their own, so that single events do not
    /// wake them.
    let idlers = Monitor(0)
    private let bell: EventBell?
    /// Accepted requests whose terminal event has not been delivered.
    let outstanding = Atomic<Int>(0)
    /// The level up to which messages are logged.
    let logs: LogSwitch
    /// True once a slow callback has been reported.
    let hasToldSlow = Atomic(false)
    /// Terminal events whose delivery has begun and not ended.
    let ending = Atomic<Int>(0)
    let time = SystemTime()
    let thread = Monitor<NativeThread?>(nil)
    private let generation = ForkGeneration.current

    /// Called with true when the first terminal event becomes outstanding, and with false when none is left.
    private let busyChanged: @Sendable (Bool) -> Void

    /// - Parameter bell: nil for delivery on the library's own thread, which `startThread` starts.
    init(bell: EventBell?, logs: LogSwitch = LogSwitch(), busyChanged: @escaping @Sendable (Bool) -> Void) {
        self.bell = bell
        self.logs = logs
        self.busyChanged = busyChanged
    }

    var isAppDriven: Bool { bell != nil }
    var eventDescriptor: Int32 { bell?.descriptor ?? -1 }

    /// Counts a request, which is owed one terminal event. Called before the gate is checked, and sequentially
    /// consistent like the gate: either `destroy` sees this count, or the submitting thread sees the closed gate.
    func accepted() {
        if outstanding.add(1, ordering: .sequentiallyConsistent).oldValue == 0 { busyChanged(true) }
    }

    var undeliveredBytes: Int { state.withLock { $0.undeliveredBytes } }
    var isIdle: Bool { outstanding.load(ordering: .sequentiallyConsistent) == 0 }
}

// MARK: - Queueing events

extension Delivery {
    /// Queues events for the application, in the order of the tickets: a batch that overtakes an earlier one waits for
    /// it. Callable from any thread, with no lock held: immediate ends are told before this returns. The ends of stages
    /// are told to the loaders by the caller, after this.
    func enqueue(_ batch: Batch) {
        change { state, released in
            for listener in batch.muted { listener.isMuted = true }
            guard batch.ticket == state.nextTicket else {
                state.early[batch.ticket] = batch
                for end in batch.stageEnds { end.listener.earlyTicket = batch.ticket }
                return muteCancelled(batch)
            }
            append(batch.events, to: &state, &released)
            state.nextTicket += 1
            while !state.early.isEmpty, let next = state.early.removeValue(forKey: state.nextTicket) {
                append(next.events, to: &state, &released)
                released.late.append(next)
                state.nextTicket += 1
            }
        }
    }

    /// Queues an event of a load or a list. It needs no ticket of its own: a load's request has ended before the load's
    /// event is decided. Callable from any thread, with no lock held.
    func post(_ event: Event, to listener: Listener? = nil) {
        change { state, released in
            // The events of the load's request come first, wherever they are.
            if let listener, listener.earlyTicket >= state.nextTicket,
                state.early[listener.earlyTicket]?.events.append(event) != nil
            {
                return
            }
            // Most events that are posted are ends, which need no array.
            if case .end(let listener, let result) = event {
                end(listener, result, &state, &released)
            } else {
                append([event], to: &state, &released)
            }
        }
    }

    /// The consequences of a change of the queue that need no lock.
    private struct Released {
        /// Terminal events that do not go through the queue.
        var immediate: [(listener: Listener, result: DownloadResult)] = []
        var messages: [Notice] = []
        /// Batches and events that may hold objects of the application.
        var late: [Batch] = []
        var replaced: [Event] = []
    }

    private func change(_ body: (inout State, inout Released) -> Void) {
        var released = Released()
        let wakes = state.withLock { state in
            body(&state, &released)
            updateBell(&state)
            return state.sleepers > 0 && !state.queue.isEmpty
        }
        if wakes { state.broadcast() }
        for message in released.messages { StandardErrorLog.write(message) }
        for end in released.immediate { perform(.end(end.listener, end.result)) }
    }

    /// Mutes the listeners of a batch that has to wait: a caller that has cancelled gets no more events of the request
    /// once the cancelling call has returned.
    private func muteCancelled(_ batch: Batch) {
        for case .end(let listener, let result) in batch.events where result.error?.code == .cancelled {
            listener.isMuted = true
        }
        for end in batch.stageEnds where end.result.error?.code == .cancelled { end.listener.isMuted = true }
    }

    private func append(_ events: [Event], to state: inout State, _ released: inout Released) {
        for event in events {
            switch event {
            case .progress(let listener, let received, _): append(event, listener, received, to: &state.queue)
            case .facts(let listener, _), .cached(let listener, _):
                if !listener.isImmediate { state.queue.append(event) }
            case .preview(let listener, _):
                if listener.isImmediate { continue }
                if let place = listener.previewPlace {
                    if let old = state.queue[place] { released.replaced.append(old) }
                    state.queue[place] = event
                } else {
                    listener.previewPlace = state.queue.append(event)
                }
            case .end(let listener, let result): end(listener, result, &state, &released)
            case .notice(let notice, _):
                let observer = notice.kind == .log ? state.logObserver : state.observer
                if let observer {
                    state.queue.append(.notice(notice, to: observer))
                } else if notice.kind == .log {
                    released.messages.append(notice)
                }
            case .prefetch: state.queue.append(event)
            }
        }
    }

    /// Queues the end of a request or a whole load.
    private func end(
        _ listener: Listener, _ result: DownloadResult, _ state: inout State, _ released: inout Released
    ) {
        if listener.isImmediate { return released.immediate.append((listener, result)) }
        Trace.step("queue the end")
        listener.hasEnded = true
        listener.isMuted = listener.isMuted || result.error?.code == .cancelled
        state.queue.append(.end(listener, result))
        // The amount is remembered, because an image may hold more bytes by the time it is delivered.
        listener.undeliveredBytes = result.heldBytes
        state.undeliveredBytes &+= listener.undeliveredBytes
    }

    /// Queues progress, which replaces progress of the same body that waits.
    private func append(_ event: Event, _ listener: Listener, _ received: Int64, to queue: inout LinkedList<Event>) {
        if listener.hasEnded || listener.isMuted || listener.isImmediate { return }
        if received == 0 {
            // A new body has begun, so queued progress of the previous body is dropped rather than delivered after
            // this.
            if let place = listener.progressPlace { queue.remove(place) }
            listener.progressPlace = nil
            queue.append(event)
        } else if let place = listener.progressPlace {
            queue[place] = event
        } else {
            listener.progressPlace = queue.append(event)
        }
    }

    /// Drops the queued and future events, except the end, of a load or a list that was cancelled.
    func mute(_ listener: Listener) { state.withLock { _ in listener.isMuted = true } }

    func setObserver(_ observer: (any Observer)?) { replace(\.observer, by: observer) }
    func setLogObserver(_ observer: (any Observer)?) { replace(\.logObserver, by: observer) }

    /// Replaces an observer. The old one gets none of the notices that are still queued for it.
    private func replace(_ place: WritableKeyPath<State, (any Observer)?>, by observer: (any Observer)?) {
        // The old observer belongs to the application, and is released without the lock.
        _ = state.withLock { state in
            defer { state[keyPath: place] = observer }
            return state[keyPath: place]
        }
    }
}

// MARK: - Delivering one event

extension Delivery {
    /// Makes the descriptor readable when the queue becomes non-empty, and unreadable when it is empty again. Called
    /// under the lock, so that the two system calls cannot cross.
    func updateBell(_ state: inout State) {
        guard let bell, state.isRinging == state.queue.isEmpty else { return }
        state.isRinging.toggle()
        if state.isRinging { bell.ring() } else { bell.silence() }
    }

    /// Takes the oldest event that is still worth delivering. Returns `nil` also in a child that was forked inside a
    /// callback: the queued events belong to the parent, and the locks may be held forever.
    func takeNext() -> Event? {
        if isForked { return nil }
        // Dropped events may hold objects of the application, and are released without the lock.
        var dropped: [Event] = []
        let event = state.withLock { next(&$0, &dropped) }
        withExtendedLifetime(dropped) {}
        return event
    }

    private func next(_ state: inout State, _ dropped: inout [Event]) -> Event? {
        defer { updateBell(&state) }
        while let event = state.queue.popFirst() {
            if isDue(event, &state) { return event }
            dropped.append(event)
        }
        return nil
    }

    /// Whether an event that has left the queue is still to be delivered.
    private func isDue(_ event: Event, _ state: inout State) -> Bool {
        switch event {
        case .progress(let listener, let received, _):
            // The place may go to another event now.
            if received > 0 { listener.progressPlace = nil }
            return !listener.isMuted
        case .facts(let listener, _), .cached(let listener, _): return !listener.isMuted
        case .preview(let listener, _):
            listener.previewPlace = nil
            // A preview is pointless once the end is queued.
            return !listener.hasEnded && !listener.isMuted
        case .end(let listener, _):
            state.undeliveredBytes &-= listener.undeliveredBytes
            return true
        case .notice(let notice, let observer):
            return observer === (notice.kind == .log ? state.logObserver : state.observer)
        case .prefetch(let listener, let event): return event.isEnd || !listener.isMuted
        }
    }

    /// Calls the application, with no lock held.
    func call(_ event: Event) {
        switch event {
        case .progress(let listener, let received, let expected):
            callEarly(listener) { $0.progressed(token: listener.token, received: received, expected: expected) }
        case .facts(let listener, let facts): callEarly(listener) { $0.learned(facts, token: listener.token) }
        case .preview(let listener, let result): callEarly(listener) { $0.previewed(result, token: listener.token) }
        case .cached(let listener, let result):
            result.delivered()
            callEarly(listener) { $0.foundCached(result, token: listener.token) }
        case .end(let listener, let result):
            // Give the memory back before the call: an image held by the application must not keep other images, which
            // the callback may wait for, from being decoded.
            result.delivered()
            Trace.step("call the application")
            callLast(listener) { listener.callbacks.completed(result, token: listener.token) }
        case .notice(let notice, let observer): observer?.noticed(notice)
        case .prefetch(let listener, .step(let index, let result, let counts)):
            callEarly(listener) { callbacks in
                callbacks.prefetched(index, result, token: listener.token)
                // That call may have cancelled the list, or delivered later events.
                if takes(counts, listener) { callbacks.prefetchProgressed(counts, token: listener.token) }
            }
        case .prefetch(let listener, .end(let report)):
            state.withLock { _ in listener.isOver = true }
            callLast(listener) { listener.callbacks.prefetchEnded(report, token: listener.token) }
        }
    }

    /// Whether the progress of a list is still to be delivered: the list was not cancelled, and neither its end nor
    /// progress of a later URL has been delivered.
    private func takes(_ counts: PrefetchCounts, _ listener: Listener) -> Bool {
        if isForked { return false }
        return state.withLock { _ in
            if listener.isMuted || listener.isOver || counts.finished <= listener.finishedURLs { return false }
            listener.finishedURLs = counts.finished
            return true
        }
    }

    /// Makes a call about a request, load or list before its end. The application may take the end inside, and its data
    /// stays until the call has returned.
    private func callEarly(_ listener: Listener, _ call: (any AppCallbacks) -> Void) {
        listener.earlyCalls += 1
        call(listener.callbacks)
        listener.earlyCalls -= 1
        if listener.isReleaseDue && !isForked { release(listener) }
    }

    /// Lets the application's data be freed, once no call about it is running.
    func release(_ listener: Listener) {
        listener.isReleaseDue = listener.earlyCalls > 0
        if !listener.isReleaseDue { listener.callbacks.released() }
    }

    /// Makes the last call about a request, load or list, after which the application's data may be freed.
    private func callLast(_ listener: Listener, _ call: () -> Void) {
        ending.add(1, ordering: .relaxed)
        call()
        // In a forked child the remaining steps are left to the parent.
        if isForked { return }
        release(listener)
        settled()
        ending.subtract(1, ordering: .relaxed)
    }

    /// True in a forked child, which gets here only if the fork was made inside a callback.
    var isForked: Bool { ForkGeneration.current != generation }

    /// Counts one delivered terminal event, and wakes waiting threads if it was the last outstanding one.
    func settled() {
        if isForked { return }
        guard outstanding.subtract(1, ordering: .releasing).newValue == 0 else { return }
        busyChanged(false)
        // Taking the locks ensures that a thread that has just checked the count does not miss the signal.
        if state.withLock({ $0.sleepers > 0 }) { state.broadcast() }
        if idlers.withLock({ $0 > 0 }) { idlers.broadcast() }
    }

    /// Waits until `body` returns a value, or returns `nil` when the time is over. A negative time means no limit.
    func sleep<Result>(milliseconds: Int64, until body: (inout State) -> Result?) -> Result? {
        state.withLock { $0.sleepers += 1 }
        defer { state.withLock { $0.sleepers -= 1 } }
        return state.wait(milliseconds: milliseconds, until: body)
    }
}
