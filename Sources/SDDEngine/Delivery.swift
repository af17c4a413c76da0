import SDDBase
import Synchronization

/// Hands events to the host, in order, holding no lock: on a thread of its own, `sdd-callback`, or on
/// whichever thread the host comes with. Counts what is owed, so that nothing is over before every
/// accepted request has had its terminal event.
final class Delivery: Sendable {
    typealias Effect = DownloadTable<Subscriber>.Effect

    typealias Failure = DeliveryFailure

    private enum Entry {
        /// Row C2: (0, -1) at the start and (0, N) at the response, each delivered on its own.
        case begin(Subscriber, expected: Int64)
        /// The count in `Subscriber.latest`.
        case progress(Subscriber)
        case end(Subscriber, DownloadResult)
        case notice(any Observer, Notice)
    }

    private struct State {
        var queue = LinkedList<Entry>()
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
        /// What `drain` handed out last: released at the next call.
        var drained: [Subscriber] = []
        /// And what was made to be lent with it.
        var lent: [AnyObject] = []
        /// The batch of effects that is next, and those that have come too early.
        var nextTicket: UInt64 = 1
        var early: [UInt64: [Effect]] = [:]
        /// Who hears of transfers, and who of messages.
        var observer: (any Observer)?
        var logObserver: (any Observer)?
    }

    private let state = Monitor(State())
    /// How many wait until nothing is owed, and for no event: on a condition of their own, lest each event wake them.
    private let idlers = Monitor(0)
    private let bell: EventBell?
    /// Accepted requests whose terminal event has not been delivered.
    private let outstanding = Atomic<Int>(0)
    private let thread = Monitor<NativeThread?>(nil)
    private let generation = ForkGeneration.current

    /// Told when the first event is owed, and when none is any more.
    private let busyChanged: @Sendable (Bool) -> Void

    /// - Parameter bell: nil for a thread of its own, to be started with `startThread`.
    init(bell: EventBell?, busyChanged: @escaping @Sendable (Bool) -> Void) {
        self.bell = bell
        self.busyChanged = busyChanged
    }

    var isHostDriven: Bool { bell != nil }
    var eventDescriptor: Int32 { bell?.descriptor ?? -1 }

    /// A request was accepted: one terminal event is owed. Before the submitting call's lock is given up.
    func accepted() {
        if outstanding.add(1, ordering: .relaxed).oldValue == 0 { busyChanged(true) }
    }

    private var isIdle: Bool { outstanding.load(ordering: .acquiring) == 0 }
}

// MARK: - The library's side

extension Delivery {
    /// Queues what is for the host, in one go, and in the order of the tickets: a batch that has overtaken another waits
    /// for it. Any thread; never calls the host.
    func enqueue(_ effects: [Effect], ticket: UInt64) {
        var immediate: [(Subscriber, DownloadResult)] = []
        // Let go without the lock: what they hold may be the host's.
        var late: [[Effect]] = []
        let wakes = state.withLock { state in
            guard ticket == state.nextTicket else {
                state.early[ticket] = effects
                // Who has cancelled hears no more of it, as soon as the call returns.
                mute(effects)
                return false
            }
            append(effects, to: &state, &immediate)
            state.nextTicket += 1
            while !state.early.isEmpty, let next = state.early.removeValue(forKey: state.nextTicket) {
                append(next, to: &state, &immediate)
                late.append(next)
                state.nextTicket += 1
            }
            updateBell(&state)
            return state.sleepers > 0 && !state.queue.isEmpty
        }
        withExtendedLifetime(late) {}
        if wakes { state.broadcast() }
        for (subscriber, result) in immediate { perform(.end(subscriber, result)) }
    }

    private func mute(_ effects: [Effect]) {
        for case .end(let subscriber, let result) in effects where result.error?.code == .cancelled {
            subscriber.isMuted = true
        }
    }

    private func append(
        _ effects: [Effect], to state: inout State, _ immediate: inout [(Subscriber, DownloadResult)]
    ) {
        for effect in effects {
            switch effect {
            case .progress(let subscriber, let received, let expected):
                append(subscriber, received, expected, to: &state.queue)
            case .end(let subscriber, let result):
                if subscriber.isImmediate {
                    immediate.append((subscriber, result))
                    continue
                }
                subscriber.hasEnded = true
                subscriber.isMuted = result.error?.code == .cancelled
                state.queue.append(.end(subscriber, result))
            case .notice(let notice):
                let observer = notice.kind == .log ? state.logObserver : state.observer
                if let observer { state.queue.append(.notice(observer, notice)) }
            case .letGo: break
            }
        }
    }

    /// What waits for the one before is not told any more.
    func setObserver(_ observer: (any Observer)?) {
        // What it replaces is the host's, and is let go without the lock.
        _ = state.withLock { state in
            defer { state.observer = observer }
            return state.observer
        }
    }

    func setLogObserver(_ observer: (any Observer)?) {
        _ = state.withLock { state in
            defer { state.logObserver = observer }
            return state.logObserver
        }
    }

    private func append(
        _ subscriber: Subscriber, _ received: Int64, _ expected: Int64, to queue: inout LinkedList<Entry>
    ) {
        if subscriber.hasEnded || subscriber.isImmediate { return }
        if received == 0 {
            queue.append(.begin(subscriber, expected: expected))
        } else {
            if subscriber.latest == nil { queue.append(.progress(subscriber)) }
            subscriber.latest = (received, expected)
        }
    }
}

// MARK: - One event

extension Delivery {
    /// One write when the queue stops being empty, one read when it is again; under the lock, so that the
    /// two never cross.
    private func updateBell(_ state: inout State) {
        guard let bell, state.isRinging == state.queue.isEmpty else { return }
        state.isRinging.toggle()
        if state.isRinging { bell.ring() } else { bell.silence() }
    }

    /// Takes the oldest event that is still worth delivering.
    /// nil also in a child that was forked inside a callback: there the parent's events are nobody's, and its locks may
    /// be held for ever.
    private func takeNext() -> DeliveredEvent? {
        if isForked { return nil }
        // Observers that are none any more are the host's, and are let go without the lock.
        var muted: [any Observer] = []
        let event = state.withLock { next(&$0, &muted) }
        withExtendedLifetime(muted) {}
        return event
    }

    private func next(_ state: inout State, _ muted: inout [any Observer]) -> DeliveredEvent? {
        defer { updateBell(&state) }
        while let entry = state.queue.popFirst() {
            switch entry {
            case .end(let subscriber, let result): return .end(subscriber, result)
            case .notice(let observer, let notice):
                let current = notice.kind == .log ? state.logObserver : state.observer
                if observer === current { return .notice(observer, notice) }
                muted.append(observer)
            case .begin(let subscriber, let expected):
                if !subscriber.isMuted { return .progress(subscriber, received: 0, expected: expected) }
            case .progress(let subscriber):
                guard !subscriber.isMuted, let latest = subscriber.latest else { continue }
                subscriber.latest = nil
                return .progress(subscriber, received: latest.received, expected: latest.expected)
            }
        }
        return nil
    }

    /// Calls the host, with no lock held.
    private func perform(_ event: DeliveredEvent) {
        switch event {
        case .progress(let subscriber, let received, let expected):
            subscriber.receiver.progressed(token: subscriber.token, received: received, expected: expected)
        case .end(let subscriber, let result):
            subscriber.receiver.completed(result, token: subscriber.token)
            // The parent will.
            if isForked { return }
            subscriber.receiver.released()
            settled()
        case .notice(let observer, let notice): observer.noticed(notice)
        }
    }

    /// This is the child of a fork, made while a callback ran.
    private var isForked: Bool { ForkGeneration.current != generation }

    /// One terminal event less is owed.
    private func settled() {
        if isForked { return }
        guard outstanding.subtract(1, ordering: .releasing).newValue == 0 else { return }
        busyChanged(false)
        // Through the locks, so that nobody who has just looked at the count misses the signal.
        if state.withLock({ $0.sleepers > 0 }) { state.broadcast() }
        if idlers.withLock({ $0 > 0 }) { idlers.broadcast() }
    }

    /// Waits until `body` gives something; nil when the time is over. Negative: no limit.
    private func sleep<Result>(milliseconds: Int64, until body: (inout State) -> Result?) -> Result? {
        state.withLock { $0.sleepers += 1 }
        defer { state.withLock { $0.sleepers -= 1 } }
        return state.wait(milliseconds: milliseconds, until: body)
    }
}

// MARK: - A thread of its own

extension Delivery {
    /// What a host wants called first and last on the callback thread.
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
            // What the end itself had to say.
            while let event = takeNext() { perform(event) }
            hooks.stop()
        }
        self.thread.withLock { $0 = thread }
    }

    /// thread: sdd-callback
    private func deliverUntilTheEnd() {
        while let event = nextForThread() {
            perform(event)
            if isForked { return }
        }
    }

    /// thread: sdd-callback. nil once the end has been asked for and nothing is owed any more.
    private func nextForThread() -> DeliveredEvent? {
        while true {
            if let event = takeNext() { return event }
            let isOver = sleep(milliseconds: -1) { state -> Bool? in
                if !state.queue.isEmpty { return false }
                return state.isFinishing && self.isIdle ? true : nil
            }
            if isOver == true { return nil }
        }
    }

    private var isOnCallbackThread: Bool { thread.withLock { $0?.isCurrent ?? false } }
}

// MARK: - The host's threads

extension Delivery {
    /// Makes the calling thread the one that takes events, and gives up what `drain` had lent.
    private func enter() throws(Failure) {
        let me = ThreadIdentity.current
        let (drained, lent) = try state.withLock { state throws(Failure) -> ([Subscriber], [AnyObject]) in
            guard state.dispatcher == nil || state.dispatcher == me else { throw .busy }
            state.dispatcher = me
            state.depth += 1
            defer { (state.drained, state.lent) = ([], []) }
            return (state.drained, state.lent)
        }
        withExtendedLifetime(lent) {
            for subscriber in drained where !isForked { subscriber.receiver.released() }
        }
    }

    /// - Returns: whether the end was asked for inside one of the calls that are over now.
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

    /// Calls the callbacks of at most `max` events, 0 meaning all that wait now. Host mode.
    /// - Parameter atEnd: run when the downloader was destroyed by one of them.
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

    /// Gives at most `max` events to `take` and calls nothing. What `take` returns is kept until the next call.
    /// Host mode.
    func drain(max: Int, take: (DeliveredEvent) -> AnyObject?, atEnd: () -> Void) throws(Failure) -> Int {
        try enter()
        // The host may have asked for the end where what it had drained before was let go.
        defer { if leave() { conclude(atEnd: atEnd) } }
        // Asked for where what had been lent was let go: what is taken now would be let go with the rest.
        if isForked || state.withLock({ $0.concludesOnLeave }) { return 0 }
        var count = 0
        while count < max, let event = takeNext() {
            if let lent = take(event) { state.withLock { $0.lent.append(lent) } }
            if case .end(let subscriber, _) = event {
                state.withLock { $0.drained.append(subscriber) }
                settled()
            }
            count += 1
        }
        return count
    }

    /// Waits until an event is there, having given up what `drain` had lent. Host mode.
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

    /// Waits until nothing is owed. In host mode it delivers meanwhile.
    func waitUntilIdle(milliseconds: Int64, time: some TimeSource, atEnd: () -> Void) throws(Failure) {
        if isHostDriven {
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
    /// Every job has been ended: delivers what is owed, then runs `atEnd`. Waits for that, unless called
    /// from inside a callback; then it happens when that callback has returned. Once.
    func finish(atEnd: () -> Void) {
        let me = ThreadIdentity.current
        let isInside = state.withLock { state in
            state.isFinishing = true
            state.concludesOnLeave = state.dispatcher == me
            return state.concludesOnLeave
        }
        state.broadcast()
        if isHostDriven {
            if !isInside { conclude(atEnd: atEnd) }
            return
        }
        guard let thread = thread.withLock({ $0 }) else { return }
        if thread.isCurrent { thread.detach() } else { thread.join() }
    }

    /// Host mode: the calling thread delivers all that is owed.
    private func conclude(atEnd: () -> Void) {
        // Another thread may be inside a callback just now: it is waited for.
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
        // What the end itself had to say.
        while let event = takeNext() { perform(event) }
    }
}

/// One event as the host takes it.
package enum DeliveredEvent: Sendable {
    case progress(Subscriber, received: Int64, expected: Int64)
    case end(Subscriber, DownloadResult)
    case notice(any Observer, Notice)
}
