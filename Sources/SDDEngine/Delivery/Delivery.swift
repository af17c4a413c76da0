import SDDBase
import SDDCoders
import Synchronization

/// Delivers events to the application in order, with no lock held: on a thread of its own, `sdd-callback`, or on the
/// thread from which the application asks for events. Counts outstanding terminal events, so that the downloader does
/// not end before every accepted request has had its own.
final class Delivery: Sendable {
    typealias Event = DownloadTable<Listener>.Event

    typealias Failure = DeliveryFailure

    typealias Entry = DeliveryEntry

    struct State {
        var queue = LinkedList<Entry>()
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
        var early: [UInt64: [Event]] = [:]
        /// The listeners for transfer events and for log messages.
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
    /// True while a terminal event is being delivered.
    let isEnding = Atomic(false)
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

    /// Counts an accepted request, which is owed one terminal event. Called before the submitting call gives up its
    /// lock.
    func accepted() {
        if outstanding.add(1, ordering: .relaxed).oldValue == 0 { busyChanged(true) }
    }

    var undeliveredBytes: Int { state.withLock { $0.undeliveredBytes } }
    var isIdle: Bool { outstanding.load(ordering: .acquiring) == 0 }
}

// MARK: - Queueing events

extension Delivery {
    /// Queues a batch of events for the application, in the order of the tickets: a batch that overtakes an earlier
    /// one waits for it. Callable from any thread; never calls the application.
    func enqueue(_ events: [Event], ticket: UInt64) {
        var immediate: [Immediate] = []
        var messages: [Notice] = []
        // Released without the lock, because they may hold objects of the application.
        var late: [[Event]] = []
        var replaced: [DownloadResult] = []
        let wakes = state.withLock { state in
            guard ticket == state.nextTicket else {
                state.early[ticket] = events
                // A caller that has cancelled gets no more events of the request once the cancelling call has returned.
                mute(events)
                return false
            }
            append(events, to: &state, &immediate, &replaced, &messages)
            state.nextTicket += 1
            while !state.early.isEmpty, let next = state.early.removeValue(forKey: state.nextTicket) {
                append(next, to: &state, &immediate, &replaced, &messages)
                late.append(next)
                state.nextTicket += 1
            }
            updateBell(&state)
            return state.sleepers > 0 && !state.queue.isEmpty
        }
        withExtendedLifetime((late, replaced)) {}
        if wakes { state.broadcast() }
        for message in messages { StandardErrorLog.write(message) }
        for end in immediate {
            if let stages = end.listener.stages, !end.isWhole {
                stages.stageEnded(end.result, of: end.listener.token)
            } else {
                perform(.end(end.listener, end.result))
            }
        }
    }

    /// A terminal event that is delivered immediately, without the queue.
    private struct Immediate {
        let listener: Listener
        let result: DownloadResult
        /// True for the end of a whole load, false for the end of one of its stages.
        let isWhole: Bool
    }

    private func mute(_ events: [Event]) {
        for effect in events {
            switch effect {
            case .mute(let listener): listener.isMuted = true
            case .end(let listener, let result) where result.error?.code == .cancelled,
                .finish(let listener, let result) where result.error?.code == .cancelled:
                listener.isMuted = true
            default: break
            }
        }
    }

    private func append(
        _ events: [Event], to state: inout State, _ immediate: inout [Immediate],
        _ replaced: inout [DownloadResult], _ messages: inout [Notice]
    ) {
        for effect in events {
            switch effect {
            case .progress(let listener, let received, let expected):
                append(listener, received, expected, to: &state.queue)
            case .mute(let listener): listener.isMuted = true
            case .facts(let listener, let facts):
                if !listener.isImmediate { state.queue.append(.facts(listener, facts)) }
            case .preview(let listener, let result):
                if listener.isImmediate { continue }
                if let old = listener.preview {
                    replaced.append(old)
                } else {
                    state.queue.append(.preview(listener))
                }
                listener.preview = result
            case .end(let listener, let result) where listener.isImmediate || listener.stages != nil:
                immediate.append(Immediate(listener: listener, result: result, isWhole: false))
            case .finish(let listener, let result) where listener.isImmediate:
                immediate.append(Immediate(listener: listener, result: result, isWhole: true))
            case .cached(let listener, let result):
                if !listener.isImmediate { state.queue.append(.cached(listener, result)) }
            case .end(let listener, let result), .finish(let listener, let result):
                listener.hasEnded = true
                listener.isMuted = listener.isMuted || result.error?.code == .cancelled
                state.queue.append(.end(listener, result))
                // The amount is remembered, because an image may hold more bytes by the time it is delivered.
                listener.undeliveredBytes = result.heldBytes
                state.undeliveredBytes &+= listener.undeliveredBytes
            case .notice(let notice):
                let observer = notice.kind == .log ? state.logObserver : state.observer
                if let observer {
                    state.queue.append(.notice(observer, notice))
                } else if notice.kind == .log {
                    messages.append(notice)
                }
            case .free, .drop: break
            }
        }
    }

    func setObserver(_ observer: (any Observer)?) { replace(\.observer, by: observer) }
    func setLogObserver(_ observer: (any Observer)?) { replace(\.logObserver, by: observer) }

    /// Replaces a listener. The old one gets none of the notices that are still queued for it.
    private func replace(_ place: WritableKeyPath<State, (any Observer)?>, by observer: (any Observer)?) {
        // The old listener belongs to the application, and is released without the lock.
        _ = state.withLock { state in
            defer { state[keyPath: place] = observer }
            return state[keyPath: place]
        }
    }

    private func append(
        _ listener: Listener, _ received: Int64, _ expected: Int64, to queue: inout LinkedList<Entry>
    ) {
        if listener.hasEnded || listener.isMuted || listener.isImmediate { return }
        if received == 0 {
            // A new body has begun, so queued progress of the previous body is dropped rather than delivered after
            // this.
            if let latest = listener.latest { queue.remove(latest.place) }
            listener.latest = nil
            queue.append(.begin(listener, expected: expected))
        } else {
            let place = listener.latest?.place ?? queue.append(.progress(listener))
            listener.latest = (received, expected, place)
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
    func takeNext() -> DeliveredEvent? {
        if isForked { return nil }
        // Dropped events and their listeners may belong to the application, and are released without the lock.
        var muted: [AnyObject] = []
        let event = state.withLock { next(&$0, &muted) }
        withExtendedLifetime(muted) {}
        return event
    }

    private func next(_ state: inout State, _ muted: inout [AnyObject]) -> DeliveredEvent? {
        defer { updateBell(&state) }
        while let entry = state.queue.popFirst() {
            switch entry {
            case .end(let listener, let result):
                state.undeliveredBytes &-= listener.undeliveredBytes
                return .end(listener, result)
            case .notice(let observer, let notice):
                let current = notice.kind == .log ? state.logObserver : state.observer
                if observer === current { return .notice(observer, notice) }
                muted.append(observer)
            case .begin(let listener, let expected):
                if !listener.isMuted { return .progress(listener, received: 0, expected: expected) }
            case .facts(let listener, let facts):
                if !listener.isMuted { return .facts(listener, facts) }
            case .cached(let listener, let result):
                if !listener.isMuted { return .cached(listener, result) }
                muted.append(result)
            case .preview(let listener):
                guard let preview = listener.preview else { continue }
                listener.preview = nil
                // A preview is pointless once the end is queued or the request was cancelled.
                if !listener.hasEnded, !listener.isMuted { return .preview(listener, preview) }
                muted.append(preview)
            case .prefetch(let listener, let event):
                if event.isEnd || !listener.isMuted { return .prefetch(listener, event) }
            case .progress(let listener):
                guard let latest = listener.latest else { continue }
                // Delivered or dropped, the entry has left the queue, and its place may go to another entry.
                listener.latest = nil
                if listener.isMuted { continue }
                return .progress(listener, received: latest.received, expected: latest.expected)
            }
        }
        return nil
    }

    /// Calls the application, with no lock held.
    func call(_ event: DeliveredEvent) {
        switch event {
        case .progress(let listener, let received, let expected):
            listener.callbacks.progressed(token: listener.token, received: received, expected: expected)
        case .facts(let listener, let facts): listener.callbacks.learned(facts, token: listener.token)
        case .preview(let listener, let result): listener.callbacks.previewed(result, token: listener.token)
        case .cached(let listener, let result):
            result.delivered()
            listener.callbacks.foundCached(result, token: listener.token)
        case .end(let listener, let result):
            // Give the memory back before the call: an image held by the application must not keep other images, which
            // the callback may wait for, from being decoded.
            result.delivered()
            isEnding.store(true, ordering: .relaxed)
            listener.callbacks.completed(result, token: listener.token)
            // In a forked child the remaining steps are left to the parent.
            if isForked { return }
            listener.callbacks.released()
            settled()
            isEnding.store(false, ordering: .relaxed)
        case .notice(let observer, let notice): observer.noticed(notice)
        case .prefetch(let listener, let event): perform(event, for: listener)
        }
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
