import SDDBase
import SDDCoders
import Synchronization

/// Hands events to the host, in order, holding no lock: on a thread of its own, `sdd-callback`, or on
/// whichever thread the host comes with. Counts what is owed, so that nothing is over before every
/// accepted request has had its terminal event.
final class Delivery: Sendable {
    typealias Effect = DownloadTable<Subscriber>.Effect

    typealias Failure = DeliveryFailure

    enum Entry {
        /// Row C2: (0, -1) at the start and (0, N) at the response, each delivered on its own.
        case begin(Subscriber, expected: Int64)
        /// The count in `Subscriber.latest`.
        case progress(Subscriber)
        case facts(Subscriber, ImageFacts)
        /// That in `Subscriber.preview`.
        case preview(Subscriber)
        case cached(Subscriber, DownloadResult)
        case end(Subscriber, DownloadResult)
        case notice(any Observer, Notice)
        case prefetch(Subscriber, PrefetchEvent)
    }

    struct State {
        var queue = LinkedList<Entry>()
        /// Bytes that the results in the queue hold.
        var undeliveredBytes = 0
        /// Threads in `wait`, for whom a push must signal.
        var sleepers = 0
        var isFinishing = false
        /// The end was asked for inside a callback: whoever leaves the outermost call brings it about.
        var concludesOnLeave = false
        /// Whether `bell` is readable.
        var isRinging = false
        /// The thread that is calling the host just now, and how deep in its calls. Host mode only.
        var dispatcher: ThreadIdentity?
        var depth = 0
        /// Subscribers whose events `drain` handed out last. They are released at the next call.
        var drained: [Subscriber] = []
        /// Objects that were lent with those events.
        var lent: [AnyObject] = []
        /// The batch of effects that is next, and those that have come too early.
        var nextTicket: UInt64 = 1
        var early: [UInt64: [Effect]] = [:]
        /// The observers of transfers, and of messages.
        var observer: (any Observer)?
        var logObserver: (any Observer)?
    }

    let state = Monitor(State())
    /// How many wait until nothing is owed, and for no event: on a condition of their own, lest each event wake them.
    let idlers = Monitor(0)
    private let bell: EventBell?
    /// Accepted requests whose terminal event has not been delivered.
    let outstanding = Atomic<Int>(0)
    /// Up to which level there is a log.
    let logs: LogSwitch
    /// A callback that took long was told of.
    let hasToldSlow = Atomic(false)
    /// A request's end is being told just now.
    let isEnding = Atomic(false)
    let time = SystemTime()
    let thread = Monitor<NativeThread?>(nil)
    private let generation = ForkGeneration.current

    /// Told when the first event is owed, and when none is any more.
    private let busyChanged: @Sendable (Bool) -> Void

    /// - Parameter bell: nil for a thread of its own, to be started with `startThread`.
    init(bell: EventBell?, logs: LogSwitch = LogSwitch(), busyChanged: @escaping @Sendable (Bool) -> Void) {
        self.bell = bell
        self.logs = logs
        self.busyChanged = busyChanged
    }

    var isHostDriven: Bool { bell != nil }
    var eventDescriptor: Int32 { bell?.descriptor ?? -1 }

    /// A request was accepted: one terminal event is owed. Before the submitting call's lock is given up.
    func accepted() {
        if outstanding.add(1, ordering: .relaxed).oldValue == 0 { busyChanged(true) }
    }

    var undeliveredBytes: Int { state.withLock { $0.undeliveredBytes } }
    var isIdle: Bool { outstanding.load(ordering: .acquiring) == 0 }
}

// MARK: - The library's side

extension Delivery {
    /// Queues what is for the host, in one go, and in the order of the tickets: a batch that has overtaken another waits
    /// for it. Any thread; never calls the host.
    func enqueue(_ effects: [Effect], ticket: UInt64) {
        var immediate: [Immediate] = []
        var messages: [Notice] = []
        // Let go without the lock: what they hold may be the host's.
        var late: [[Effect]] = []
        var replaced: [DownloadResult] = []
        let wakes = state.withLock { state in
            guard ticket == state.nextTicket else {
                state.early[ticket] = effects
                // A caller that has cancelled hears no more of the request as soon as the call returns.
                mute(effects)
                return false
            }
            append(effects, to: &state, &immediate, &replaced, &messages)
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
            if let stages = end.subscriber.stages, !end.isWhole {
                stages.stageEnded(end.result, of: end.subscriber.token)
            } else {
                perform(.end(end.subscriber, end.result))
            }
        }
    }

    /// An end that is told at once.
    private struct Immediate {
        let subscriber: Subscriber
        let result: DownloadResult
        /// The end of a whole load, and not of one of its stages.
        let isWhole: Bool
    }

    private func mute(_ effects: [Effect]) {
        for effect in effects {
            switch effect {
            case .mute(let subscriber): subscriber.isMuted = true
            case .end(let subscriber, let result) where result.error?.code == .cancelled,
                .finish(let subscriber, let result) where result.error?.code == .cancelled:
                subscriber.isMuted = true
            default: break
            }
        }
    }

    private func append(
        _ effects: [Effect], to state: inout State, _ immediate: inout [Immediate],
        _ replaced: inout [DownloadResult], _ messages: inout [Notice]
    ) {
        for effect in effects {
            switch effect {
            case .progress(let subscriber, let received, let expected):
                append(subscriber, received, expected, to: &state.queue)
            case .mute(let subscriber): subscriber.isMuted = true
            case .facts(let subscriber, let facts):
                if !subscriber.isImmediate { state.queue.append(.facts(subscriber, facts)) }
            case .preview(let subscriber, let result):
                if subscriber.isImmediate { continue }
                if let old = subscriber.preview {
                    replaced.append(old)
                } else {
                    state.queue.append(.preview(subscriber))
                }
                subscriber.preview = result
            case .end(let subscriber, let result) where subscriber.isImmediate || subscriber.stages != nil:
                immediate.append(Immediate(subscriber: subscriber, result: result, isWhole: false))
            case .finish(let subscriber, let result) where subscriber.isImmediate:
                immediate.append(Immediate(subscriber: subscriber, result: result, isWhole: true))
            case .cached(let subscriber, let result):
                if !subscriber.isImmediate { state.queue.append(.cached(subscriber, result)) }
            case .end(let subscriber, let result), .finish(let subscriber, let result):
                subscriber.hasEnded = true
                subscriber.isMuted = subscriber.isMuted || result.error?.code == .cancelled
                state.queue.append(.end(subscriber, result))
                // An image may hold more by the time it is delivered.
                subscriber.undeliveredBytes = result.heldBytes
                state.undeliveredBytes &+= subscriber.undeliveredBytes
            case .notice(let notice):
                let observer = notice.kind == .log ? state.logObserver : state.observer
                if let observer {
                    state.queue.append(.notice(observer, notice))
                } else if notice.kind == .log {
                    messages.append(notice)
                }
            case .letGo, .drop: break
            }
        }
    }

    func setObserver(_ observer: (any Observer)?) { replace(\.observer, by: observer) }
    func setLogObserver(_ observer: (any Observer)?) { replace(\.logObserver, by: observer) }

    /// The observer before gets no more of the notices that wait for it.
    private func replace(_ place: WritableKeyPath<State, (any Observer)?>, by observer: (any Observer)?) {
        // The observer before belongs to the application, and is let go without the lock.
        _ = state.withLock { state in
            defer { state[keyPath: place] = observer }
            return state[keyPath: place]
        }
    }

    private func append(
        _ subscriber: Subscriber, _ received: Int64, _ expected: Int64, to queue: inout LinkedList<Entry>
    ) {
        if subscriber.hasEnded || subscriber.isMuted || subscriber.isImmediate { return }
        if received == 0 {
            // Of a body that has begun afresh: what has come of the one before is not told behind that.
            if let latest = subscriber.latest { queue.remove(latest.place) }
            subscriber.latest = nil
            queue.append(.begin(subscriber, expected: expected))
        } else {
            let place = subscriber.latest?.place ?? queue.append(.progress(subscriber))
            subscriber.latest = (received, expected, place)
        }
    }
}

// MARK: - One event

extension Delivery {
    /// One write when the queue stops being empty, one read when it is again; under the lock, so that the
    /// two never cross.
    func updateBell(_ state: inout State) {
        guard let bell, state.isRinging == state.queue.isEmpty else { return }
        state.isRinging.toggle()
        if state.isRinging { bell.ring() } else { bell.silence() }
    }

    /// Takes the oldest event that is still worth delivering.
    /// nil also in a child that was forked inside a callback: there the parent's events are nobody's, and its locks may
    /// be held for ever.
    func takeNext() -> DeliveredEvent? {
        if isForked { return nil }
        // Events that are dropped, and their observers, may be the application's: they are let go without the lock.
        var muted: [AnyObject] = []
        let event = state.withLock { next(&$0, &muted) }
        withExtendedLifetime(muted) {}
        return event
    }

    private func next(_ state: inout State, _ muted: inout [AnyObject]) -> DeliveredEvent? {
        defer { updateBell(&state) }
        while let entry = state.queue.popFirst() {
            switch entry {
            case .end(let subscriber, let result):
                state.undeliveredBytes &-= subscriber.undeliveredBytes
                return .end(subscriber, result)
            case .notice(let observer, let notice):
                let current = notice.kind == .log ? state.logObserver : state.observer
                if observer === current { return .notice(observer, notice) }
                muted.append(observer)
            case .begin(let subscriber, let expected):
                if !subscriber.isMuted { return .progress(subscriber, received: 0, expected: expected) }
            case .facts(let subscriber, let facts):
                if !subscriber.isMuted { return .facts(subscriber, facts) }
            case .cached(let subscriber, let result):
                if !subscriber.isMuted { return .cached(subscriber, result) }
                muted.append(result)
            case .preview(let subscriber):
                guard let preview = subscriber.preview else { continue }
                subscriber.preview = nil
                // Where the picture itself is there, nobody looks at less; nor who has cancelled.
                if !subscriber.hasEnded, !subscriber.isMuted { return .preview(subscriber, preview) }
                muted.append(preview)
            case .prefetch(let subscriber, let event):
                if event.isEnd || !subscriber.isMuted { return .prefetch(subscriber, event) }
            case .progress(let subscriber):
                guard let latest = subscriber.latest else { continue }
                // Told or not, its place is another's from now on.
                subscriber.latest = nil
                if subscriber.isMuted { continue }
                return .progress(subscriber, received: latest.received, expected: latest.expected)
            }
        }
        return nil
    }

    /// Calls the host, with no lock held.
    func call(_ event: DeliveredEvent) {
        switch event {
        case .progress(let subscriber, let received, let expected):
            subscriber.receiver.progressed(token: subscriber.token, received: received, expected: expected)
        case .facts(let subscriber, let facts): subscriber.receiver.learned(facts, token: subscriber.token)
        case .preview(let subscriber, let result): subscriber.receiver.previewed(result, token: subscriber.token)
        case .cached(let subscriber, let result):
            result.delivered()
            subscriber.receiver.foundCached(result, token: subscriber.token)
        case .end(let subscriber, let result):
            // Before the call: a picture in the application's hands must not keep others from being decoded, which the
            // callback may wait for.
            result.delivered()
            isEnding.store(true, ordering: .relaxed)
            subscriber.receiver.completed(result, token: subscriber.token)
            // The parent will.
            if isForked { return }
            subscriber.receiver.released()
            settled()
            isEnding.store(false, ordering: .relaxed)
        case .notice(let observer, let notice): observer.noticed(notice)
        case .prefetch(let subscriber, let event): perform(event, for: subscriber)
        }
    }

    /// This is the child of a fork, made while a callback ran.
    var isForked: Bool { ForkGeneration.current != generation }

    /// One terminal event less is owed.
    func settled() {
        if isForked { return }
        guard outstanding.subtract(1, ordering: .releasing).newValue == 0 else { return }
        busyChanged(false)
        // Through the locks, so that nobody who has just looked at the count misses the signal.
        if state.withLock({ $0.sleepers > 0 }) { state.broadcast() }
        if idlers.withLock({ $0 > 0 }) { idlers.broadcast() }
    }

    /// Waits until `body` gives something; nil when the time is over. Negative: no limit.
    func sleep<Result>(milliseconds: Int64, until body: (inout State) -> Result?) -> Result? {
        state.withLock { $0.sleepers += 1 }
        defer { state.withLock { $0.sleepers -= 1 } }
        return state.wait(milliseconds: milliseconds, until: body)
    }
}
