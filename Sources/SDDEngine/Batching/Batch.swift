package import SDDBase
package import SDDCoders

/// A batch: fetches many items from a `BatchSource`, few at a time, for an application that takes them when it likes.
/// Keeps the `BatchTable` under its lock and carries out the table's decisions outside it. It has no thread of its own:
/// items are asked for and begun on the application's threads, in `make` and `wait`; they end on the source's threads.
/// Thread-safe.
package final class Batch: Sendable {
    struct State {
        var table: BatchTable<DownloadResult>
        var counts = BatchCounts()
        var lastEnd: Int64
        var isRinging = false
        var isClosed = false
        /// Calls of `wait` that have not returned.
        var visitors = 0
        /// The thread that is inside the application's item function.
        var asker: ThreadIdentity?
    }

    package struct Rules: Sendable {
        package var lookAhead = 64
        package var isOrdered = false
        /// The tensor that receives the pixels; `nil` if items are images or bytes.
        package var tensor: Tensor?
        /// If true, item i has slot i; otherwise slots are assigned and released.
        package var slotsAreIndexes = true
        /// The form in which images without a tensor are decoded; `nil` means the source's default.
        package var form: DecodeOptions?
        /// Microseconds for the whole batch; 0 means no limit.
        package var limit: Int64 = 0
        /// Items are handed out with their responses.
        package var wantsResponses = false

        package init() {}
    }

    let state: Monitor<State>
    let rules: Rules
    let source: any BatchSource
    private let input: any BatchInput
    private let bell: EventBell
    private let time: any TimeSource
    private let start: Int64
    /// Microseconds of the monotonic clock; `.max` means no deadline.
    let deadline: Int64

    private init(
        _ input: any BatchInput, _ source: any BatchSource, _ rules: Rules, bell: EventBell, time: any TimeSource
    ) {
        self.input = input
        self.source = source
        self.rules = rules
        self.bell = bell
        self.time = time
        start = time.monotonicMicroseconds()
        let (deadline, isEndless) = start.addingReportingOverflow(rules.limit)
        self.deadline = rules.limit <= 0 || isEndless ? .max : deadline
        let table = BatchTable<DownloadResult>(rules: .init(rules, count: input.count))
        state = Monitor(State(table: table, lastEnd: start))
    }

    /// Makes a batch and begins its first items.
    package static func make(
        _ input: any BatchInput, source: any BatchSource, rules: Rules, time: any TimeSource = SystemTime()
    ) throws(SystemError) -> Batch {
        let batch = Batch(input, source, rules, bell: try EventBell(), time: time)
        batch.state.withLock { batch.updateBell(&$0) }
        batch.refill()
        return batch
    }

    /// True if pixels go to the application's memory and no images are handed out.
    package var hasTensor: Bool { rules.tensor != nil }
    package var wantsResponses: Bool { rules.wantsResponses }

    /// A file descriptor that is readable while items can be taken, and once all have been taken.
    package var eventDescriptor: Int32 { bell.descriptor }

    package var counts: BatchCounts { state.withLock { $0.counts } }

    /// Microseconds from the start to now, or to the end of the last item.
    package var elapsed: Int64 {
        state.withLock { ($0.table.isOver ? $0.lastEnd : now) - start }
    }
}

extension BatchTable.Rules {
    fileprivate init(_ rules: Batch.Rules, count: Int?) {
        lookAhead = max(1, rules.lookAhead)
        isOrdered = rules.isOrdered
        self.count = count
        if let tensor = rules.tensor {
            slots = rules.slotsAreIndexes ? .ofIndex(tensor.slotCount) : .next(tensor.slotCount)
        }
    }
}

// MARK: - Beginning items

extension Batch {
    /// Begins items while there is room for more. Only one thread at a time does this; another one returns at once.
    /// Called on the application's threads.
    func refill() {
        if isLate { stop(.deadline) }
        guard change({ state in state.table.beginsAsking() }) else { return }
        while true {
            setAsker(.current)
            let entry = input.next()
            setAsker(nil)
            guard let entry else {
                change { state in state.table.exhausted() }
                return
            }
            begin(entry)
            guard change({ state in state.table.goesOnAsking() }) else { return }
        }
    }

    private func setAsker(_ thread: ThreadIdentity?) { state.withLock { $0.asker = thread } }

    private func begin(_ entry: BatchEntry) {
        let host = entry.host
        let (index, begins) = change { state in
            let given = state.table.given(id: entry.id, host: host)
            if !given.begins { count(result(ofStopped: state.table.stop ?? .cancelled), of: host, in: &state) }
            return given
        }
        guard begins else { return }
        let callbacks = BatchCallbacks(self, index: index, host: host)
        let limit = deadline == .max ? 0 : max(1, deadline - time.monotonicMicroseconds())
        guard let token = source.submit(entry, in: form(of: index), totalLimit: limit, callbacks: callbacks) else {
            ended(index, of: host, DownloadResult(error: .closed, stage: .submit, ended: now))
            return
        }
        if change({ state in state.table.began(index, token: token) }) { source.cancel(token) }
    }

    private func form(of index: Int) -> DecodeOptions? {
        rules.tensor?.form(for: rules.slotsAreIndexes ? index : nil) ?? rules.form
    }
}

// MARK: - Ending items

extension Batch {
    var now: Int64 { time.monotonicMicroseconds() }
    var isLate: Bool { deadline != .max && now >= deadline }

    /// Records the end of an item's request. Called on the thread that decides the end.
    func ended(_ index: Int, of host: String, _ result: DownloadResult) {
        change { state in
            let wasCancelled = result.error?.code == .cancelled
            state.table.ended(index, result, succeeded: result.error == nil, wasCancelled: wasCancelled)
            let stop = wasCancelled ? state.table.stop : nil
            count(stop.map { self.result(ofStopped: $0) } ?? result, of: host, in: &state)
        }
    }

    private func count(_ result: DownloadResult, of host: String, in state: inout State) {
        state.counts.count(result, of: host)
        state.lastEnd = now
    }

    /// Returns the result of an item that ended because its batch stopped.
    func result(ofStopped reason: BatchTable<DownloadResult>.Stop) -> DownloadResult {
        let error = reason == .cancelled ? DownloadError.cancelledWaiting : .timeout(.timeoutTotal)
        return DownloadResult(error: error, stage: .queue, ended: now)
    }

    /// Cancels all items that have not ended.
    package func cancel() { stop(.cancelled) }

    func stop(_ reason: BatchTable<DownloadResult>.Stop) {
        let tokens = change { state in state.table.stopped(reason) }
        for token in tokens { source.cancel(token) }
    }

    /// Lets a slot be filled again.
    /// - Returns: false if the slot is not taken.
    package func release(slot: Int) -> Bool { change { state in state.table.released(slot) } }

    /// Passes an event to the table and wakes the threads that wait for its outcome.
    @discardableResult
    func change<Outcome>(_ event: (inout State) -> Outcome) -> Outcome {
        let outcome = state.withLock { state in
            let outcome = event(&state)
            updateBell(&state)
            return outcome
        }
        state.broadcast()
        return outcome
    }

    /// Rings the bell when items become available and silences it when none are left. Done under the lock, so that the
    /// two never cross.
    private func updateBell(_ state: inout State) {
        guard state.isRinging != (state.table.isTakeable || state.table.isOver) else { return }
        state.isRinging.toggle()
        if state.isRinging { bell.ring() } else { bell.silence() }
    }
}

/// Tells a batch of the end of one of its requests.
private final class BatchCallbacks: AppCallbacks {
    private let batch: Batch
    private let index: Int
    let host: String
    /// The cached result, while the server is asked whether it is still valid.
    private let cached = OnceReference<DownloadResult>()

    init(_ batch: Batch, index: Int, host: String) {
        self.batch = batch
        self.index = index
        self.host = host
    }

    func foundCached(_ result: DownloadResult, token: UInt64) { _ = cached.storeIfNil(result) }

    func completed(_ result: DownloadResult, token: UInt64) {
        let isValid = result.error?.code == .notModified
        batch.ended(index, of: host, isValid ? cached.load()?.confirmed(by: result) ?? result : result)
    }
}
