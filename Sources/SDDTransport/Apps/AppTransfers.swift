package import SDDBase

/// The transfers of the application's transports: forwards commands, collects bodies up to the limit, turns answers
/// into events, and keeps the time limits. Commands come on `sdd-net`, answers on any thread.
package final class AppTransfers: Sendable {
    private final class Transfer: @unchecked Sendable {
        // Safety: touched only under `transfers`' lock, except for the constants.
        let appTransport: any AppTransport
        let request: HTTPRequest
        var started: Int64
        let requestTime: Int64
        var clocks: StageClocks
        var head: ResponseHead?
        let body = ByteBuilder()
        /// Bytes of the body, including those that are not kept.
        var count: Int64 = 0
        var isShown = false
        /// The number of times that the application has delivered more than the sink took.
        var waits = 0
        /// The end that the application reported, which is delivered once the sink has taken all bytes.
        var heldEnd: TransferEnd?
        /// The time at which the clocks of the transfer are looked at next.
        var nextLook = Int64.max

        /// Announced size of the body; `nil` if it is unknown, or if there is no body although a length is announced
        /// (RFC 9110 §8.6).
        var announced: Int64? {
            guard let head, head.expectedBytes >= 0, !hasNoBody else { return nil }
            return head.expectedBytes
        }

        /// True if the response has no body: RFC 9110 §9.3.2 and §15.4.5.
        private var hasNoBody: Bool { request.method == "HEAD" || head?.response.status == 304 }

        /// Returns an error if the body must not have `total` bytes.
        func surplus(_ total: Int64) -> TransportError? {
            if hasNoBody, total > 0 { return .unexpectedBody }
            return announced.flatMap { total > $0 ? .beyondAnnounced($0) : nil }
        }

        /// The error for a body with fewer bytes than announced.
        var lack: TransportError? {
            announced.flatMap { count < $0 ? .belowAnnounced($0, came: count) : nil }
        }

        init(_ appTransport: any AppTransport, _ request: HTTPRequest, _ time: any TimeSource) {
            self.appTransport = appTransport
            self.request = request
            started = time.monotonicMicroseconds()
            requestTime = time.wallMicroseconds()
            clocks = StageClocks(request.options.values.clocks, startedAt: started)
            // The application connects, and no limit is known of that: the first byte is waited for from the start on.
            clocks.connected(hasBody: false, at: started)
        }

        /// Whether bytes are to be written to a sink that is blocked.
        var isBlocked: Bool { clocks.pausedAt == nil && clocks.waitsForSink }

        func look(at now: Int64) -> StageClocks.Look { clocks.look(at: now) { count } }

        func nextLook(at now: Int64) -> Int64 {
            if isBlocked { return now + AppTransfers.sinkInterval }
            return switch look(at: now) {
            case .later(let time): time
            case .expired: now
            }
        }
    }

    /// The reason why an answer is refused.
    package enum Refusal: Error {
        /// There is no such transfer, or it has ended.
        case unknown
        /// A response came after data, or for the second time.
        case outOfOrder
    }

    private struct State {
        var transfers: [TransferID: Transfer] = [:]
        var looks = LookAgenda()
        /// The time at which `sdd-net` looks at the clocks next, as far as it knows.
        var promised = Int64.max

        subscript(id: TransferID) -> Transfer? {
            get { transfers[id] }
            set { transfers[id] = newValue }
        }

        mutating func schedule(_ transfer: Transfer, _ id: TransferID, at time: Int64) {
            transfer.nextLook = looks.plan(id, at: time, planned: transfer.nextLook) { [transfers] in
                transfers[$0]?.nextLook == $1
            }
        }

        mutating func popDue(at now: Int64) -> TransferID? {
            looks.popDue(at: now) { [transfers] in transfers[$0]?.nextLook == $1 }
        }

        mutating func nextLook() -> Int64 { looks.next { [transfers] in transfers[$0]?.nextLook == $1 } }

        mutating func remove(_ id: TransferID) -> Transfer? {
            defer { if transfers.isEmpty { looks.removeAll() } }
            return transfers.removeValue(forKey: id)
        }
    }

    private let transfers = Monitor(State())
    private let maxBodyBytes: Int64
    /// Read under the lock of `transfers` wherever a time is compared with others: a thread that was delayed between
    /// the clock and the lock would plan a look in the past.
    private let time: any TimeSource

    package init(maxBodyBytes: Int64, time: any TimeSource = SystemTime()) {
        self.maxBodyBytes = maxBodyBytes
        self.time = time
    }
}

// MARK: - Commands

/// thread: sdd-net
extension AppTransfers {
    /// Removes the commands for the application's transports from `commands`, and carries them out.
    /// - Returns: the bodies so far of the transfers that are to be shown.
    package func take(from commands: inout [TransportCommand]) -> [TransferEvent] {
        let isEmpty = transfers.withLock { $0.transfers.isEmpty }
        guard commands.contains(where: { Self.startsAppTransport($0) }) || !isEmpty else { return [] }
        var events: [TransferEvent] = []
        commands.removeAll { command in
            switch command {
            case .start(let id, let request, let priority): start(id, request, priority)
            case .cancel(let id): cancel(id)
            case .setPriority(let id, let priority): setPriority(id, priority)
            // There is no reading to stop: bytes that arrive are kept, up to the limit. The clocks stop.
            case .pause(let id): pause(id)
            case .resume(let id): resume(id)
            case .show(let id): show(id, &events)
            }
        }
        return events
    }

    /// Shows the body: what has arrived, after which the application may be silent for long, and then with all data.
    private func show(_ id: TransferID, _ events: inout [TransferEvent]) -> Bool {
        transfers.withLock { transfers in
            guard let transfer = transfers[id] else { return false }
            if !transfer.isShown, transfer.body.count > 0 { events.append(.body(id, transfer.body.soFar())) }
            transfer.isShown = true
            return true
        }
    }

    private static func startsAppTransport(_ command: TransportCommand) -> Bool {
        if case .start(_, let request, _) = command { request.appTransport != nil } else { false }
    }

    private func pause(_ id: TransferID) -> Bool {
        transfers.withLock { transfers in
            guard let transfer = transfers[id] else { return false }
            let now = time.monotonicMicroseconds()
            transfer.clocks.pause(at: now)
            return true
        }
    }

    /// Restarts the clocks. Each limit continues with the time that was left.
    private func resume(_ id: TransferID) -> Bool {
        transfers.withLock { transfers in
            guard let transfer = transfers[id] else { return false }
            let now = time.monotonicMicroseconds()
            transfer.started += now - (transfer.clocks.pausedAt ?? now)
            transfer.clocks.resume(at: now)
            transfers.schedule(transfer, id, at: now)
            return true
        }
    }

    private func start(_ id: TransferID, _ request: HTTPRequest, _ priority: Priority) -> Bool {
        guard let appTransport = request.appTransport else { return false }
        // The application's transports do not support resuming.
        var request = request
        if request.resume != nil { request.resume = nil }
        transfers.withLock { transfers in
            let transfer = Transfer(appTransport, request, time)
            transfers[id] = transfer
            transfers.schedule(transfer, id, at: transfer.started)
        }
        appTransport.start(id, request, priority: priority)
        return true
    }

    private func cancel(_ id: TransferID) -> Bool {
        guard let transfer = transfers.withLock({ $0.remove(id) }) else { return false }
        transfer.appTransport.cancel(id)
        return true
    }

    private func setPriority(_ id: TransferID, _ priority: Priority) -> Bool {
        guard let transfer = transfers.withLock({ $0[id] }) else { return false }
        transfer.appTransport.setPriority(id, to: priority)
        return true
    }

    /// Cancels all transfers because the downloader ends. Later answers are refused.
    package func cancelAll() {
        let ended = transfers.withLock { transfers in
            defer { transfers = State() }
            return transfers.transfers
        }
        for (id, transfer) in ended { transfer.appTransport.cancel(id) }
    }

    /// Ends transfers whose time limit has expired, and writes bytes that wait for a sink.
    /// - Returns: The final events of ended transfers, and the time of the next look.
    package func lookAtClocks() -> (ended: [TransferEvent], next: Int64) {
        var ended: [Ended] = []
        let (blocked, next) = transfers.withLock { transfers in
            let now = time.monotonicMicroseconds()
            var blocked: [Blocked] = []
            var later: [(TransferID, Transfer, Int64)] = []
            while let id = transfers.popDue(at: now) {
                guard let transfer = transfers[id] else { continue }
                transfer.nextLook = .max
                if transfer.isBlocked, let sink = transfer.request.sink {
                    blocked.append(Blocked(id: id, transfer: transfer, sink: sink, waits: transfer.waits))
                    continue
                }
                switch transfer.look(at: now) {
                case .later(let time): later.append((id, transfer, time))
                case .expired(let kind):
                    ended.append((id, transfer, failedEnd(of: transfer, Self.expired(kind, transfer.clocks))))
                    _ = transfers.remove(id)
                }
            }
            for (id, transfer, time) in later { transfers.schedule(transfer, id, at: time) }
            transfers.promised = transfers.nextLook()
            return (blocked, transfers.promised)
        }
        let soonest = blocked.isEmpty ? next : flush(blocked, &ended)
        let events = ended.map { id, transfer, end -> TransferEvent in
            if case .failure = end.result, transfer.heldEnd == nil { transfer.appTransport.cancel(id) }
            return .finished(id, end)
        }
        return (events, soonest)
    }

    private typealias Ended = (TransferID, Transfer, TransferEnd)

    /// A transfer whose sink is blocked.
    private struct Blocked {
        let id: TransferID
        let transfer: Transfer
        let sink: BodySink
        let waits: Int

        /// Writes what the sink accepts. No lock is held, as for any system call.
        func flush() -> (outcome: BodySink.Outcome, hasMoved: Bool) {
            let before = sink.waitingBytes
            let outcome = sink.flush()
            return (outcome, sink.waitingBytes < before)
        }
    }

    /// Interval in microseconds at which a blocked sink is tried again, because the loop does not poll its descriptor.
    private static let sinkInterval: Int64 = 10_000

    /// Writes bytes that wait for sinks.
    /// - Returns: The time of the next look.
    private func flush(_ blocked: [Blocked], _ ended: inout [Ended]) -> Int64 {
        let flushed = blocked.map { ($0, $0.flush()) }
        return transfers.withLock { transfers in
            let now = time.monotonicMicroseconds()
            for (blocked, (outcome, hasMoved)) in flushed {
                let (id, transfer) = (blocked.id, blocked.transfer)
                guard transfers[id] === transfer else { continue }
                // The application may have delivered more meanwhile, which waits.
                let isDone = outcome == .written && transfer.waits == blocked.waits
                if let end = end(of: transfer, outcome, isDone: isDone, hasMoved: hasMoved, at: now) {
                    ended.append((id, transfer, end))
                    _ = transfers.remove(id)
                } else {
                    transfers.schedule(transfer, id, at: transfer.nextLook(at: now))
                }
            }
            transfers.promised = transfers.nextLook()
            return transfers.promised
        }
    }

    /// Judges a transfer after a write to its sink.
    /// - Returns: `nil` if it goes on.
    private func end(
        of transfer: Transfer, _ outcome: BodySink.Outcome, isDone: Bool, hasMoved: Bool, at now: Int64
    ) -> TransferEnd? {
        guard transfer.isBlocked else { return nil }
        if case .failed(let code) = outcome {
            return failedEnd(of: transfer, .sinkNotWritable(systemError: code))
        }
        if isDone {
            transfer.clocks.sinkDrained(at: now)
            return transfer.heldEnd
        }
        if hasMoved { transfer.clocks.sinkTookSome(at: now) }
        guard case .expired(let kind) = transfer.look(at: now) else { return nil }
        return failedEnd(of: transfer, Self.expired(kind, transfer.clocks))
    }

    private static func expired(_ kind: TransportError.Kind, _ clocks: StageClocks) -> TransportError {
        let limit = clocks.limit(of: kind)
        return switch kind {
        case .sinkBlocked: .sinkBlocked(after: limit)
        case .firstByteTimeout: TransportError(kind, message: "No answer came for \(limit) ms.")
        case .tooSlow:
            TransportError(kind, message: "The body came slower than low_speed_limit allows, for \(limit) ms.")
        default: TransportError(kind, message: "Not a byte came for \(limit) ms.")
        }
    }
}

// MARK: - Answers

/// Callable from any thread. Each function returns the events for the delegate, which the caller delivers with no lock
/// held.
extension AppTransfers {
    /// - Returns: A failed end, in place of the response, if it is a part of the body that was not asked for.
    package func responded(
        _ id: TransferID, status: Int32, fields: ResponseFields, expectedBytes: Int64
    ) throws(Refusal) -> [TransferEvent] {
        try transfers.withLock { transfers throws(Refusal) in
            guard let transfer = transfers[id], transfer.heldEnd == nil else { throw .unknown }
            guard transfer.head == nil else { throw .outOfOrder }
            let now = time.monotonicMicroseconds()
            let event = respond(transfer, id, status: status, fields: fields, expectedBytes: expectedBytes, at: now)
            if status == 206, transfer.request.headers["Range"] == nil {
                _ = transfers.remove(id)
                return [.finished(id, failedEnd(of: transfer, .unaskedPart(host: "The transport")))]
            }
            transfers.schedule(transfer, id, at: transfer.nextLook(at: now))
            return [event]
        }
    }

    private func respond(
        _ transfer: Transfer, _ id: TransferID, status: Int32, fields: ResponseFields, expectedBytes: Int64,
        at now: Int64
    ) -> TransferEvent {
        let response = Response(status: status, url: transfer.request.url.textWithoutUserinfo, fields: fields)
        let head = ResponseHead(
            response: response, expectedBytes: max(expectedBytes, -1), requestTime: transfer.requestTime,
            responseTime: time.wallMicroseconds())
        transfer.head = head
        transfer.clocks.received(at: now)
        return .response(id, head)
    }

    /// Takes data of the body.
    /// - Returns: An error if the data has ended the transfer. The transport is told by that, and not cancelled: this is
    ///   not `sdd-net`.
    package func received(
        _ id: TransferID, _ data: UnsafeRawBufferPointer
    ) throws(Refusal) -> (events: [TransferEvent], error: TransportError?) {
        let outcome = try transfers.withLock { transfers throws(Refusal) -> (Taken, BodySink?, Transfer) in
            guard let transfer = transfers[id], transfer.heldEnd == nil else { throw .unknown }
            let now = time.monotonicMicroseconds()
            var taken = Taken()
            if transfer.head == nil { taken.events.append(standardResponse(transfer, id, at: now)) }
            transfer.clocks.received(at: now)
            transfers.schedule(transfer, id, at: transfer.nextLook(at: now))
            if let error = append(data, to: transfer) {
                _ = transfers.remove(id)
                taken.error = error
                taken.events.append(.finished(id, failedEnd(of: transfer, error)))
                return (taken, nil, transfer)
            }
            taken.events.append(.received(id, transfer.count))
            if transfer.isShown { taken.events.append(.body(id, transfer.body.soFar())) }
            let isWanted = transfer.head.map { transfer.request.sink?.takes($0.response) ?? false } ?? false
            return (taken, isWanted ? transfer.request.sink : nil, transfer)
        }
        var taken = outcome.0
        guard let sink = outcome.1, let base = data.baseAddress else { return (taken.events, taken.error) }
        // No lock is held, because answers for one transfer come one at a time.
        switch sink.write(base, count: data.count) {
        case .written: break
        case .waits: sinkWaits(id)
        case .failed(let code):
            let error = TransportError.sinkNotWritable(systemError: code)
            taken.error = error
            if let transfer = transfers.withLock({ $0.remove(id) }) {
                taken.events.append(.finished(id, failedEnd(of: transfer, error)))
            }
        }
        // The transfer is kept alive until here, without the lock; see `finished`.
        withExtendedLifetime(outcome.2) {}
        return (taken.events, taken.error)
    }

    /// True if an answer needs a look at the clocks before the time that `sdd-net` knows, so that its loop must turn.
    /// Any thread.
    package var needsTurn: Bool { transfers.withLock { $0.nextLook() < $0.promised } }

    /// Records that the sink is blocked. The application may still deliver more, which is kept up to the limit on
    /// bodies, and written by `sdd-net`.
    private func sinkWaits(_ id: TransferID) {
        transfers.withLock { transfers in
            guard let transfer = transfers[id] else { return }
            transfer.waits += 1
            guard !transfer.clocks.waitsForSink else { return }
            let now = time.monotonicMicroseconds()
            transfer.clocks.sinkBlocked(at: now)
            transfers.schedule(transfer, id, at: now + Self.sinkInterval)
        }
    }

    private struct Taken {
        var events: [TransferEvent] = []
        var error: TransportError?
    }

    /// - Returns: The error if the data is refused.
    private func append(_ data: UnsafeRawBufferPointer, to transfer: Transfer) -> TransportError? {
        let (total, overflow) = transfer.count.addingReportingOverflow(Int64(data.count))
        let limit = transfer.request.limitOnBody(else: maxBodyBytes)
        guard !overflow, total <= limit else { return .bodyTooLarge(limit: limit) }
        if let surplus = transfer.surplus(total) { return surplus }
        transfer.count = total
        guard let base = data.baseAddress, transfer.request.sink == nil else { return nil }
        return transfer.body.append(base, count: data.count) ? nil : .noMemoryForBody
    }

    private func failedEnd(of transfer: Transfer, _ error: TransportError) -> TransferEnd {
        TransferEnd(result: .failure(error), response: transfer.head?.response)
    }

    private func standardResponse(_ transfer: Transfer, _ id: TransferID, at now: Int64) -> TransferEvent {
        respond(transfer, id, status: 200, fields: ResponseFields(), expectedBytes: -1, at: now)
    }

    package func finished(_ id: TransferID, _ error: TransportError?) throws(Refusal) -> [TransferEvent] {
        let (events, held) = try transfers.withLock { transfers throws(Refusal) -> ([TransferEvent], Transfer) in
            guard let transfer = transfers[id], transfer.heldEnd == nil else { throw .unknown }
            let now = time.monotonicMicroseconds()
            let error = error ?? transfer.lack
            var events: [TransferEvent] = []
            if error == nil, transfer.head == nil { events.append(standardResponse(transfer, id, at: now)) }
            var timings = TransferTimings()
            timings.total = now - transfer.started
            var metrics = TransferMetrics()
            metrics.handedOutBytes = transfer.count
            let end = TransferEnd(
                result: error.map { .failure($0) } ?? .success(transfer.body.take()),
                response: transfer.head?.response, timings: timings, metrics: metrics)
            if transfer.clocks.waitsForSink {
                transfer.heldEnd = end
            } else {
                _ = transfers.remove(id)
                events.append(.finished(id, end))
            }
            return (events, transfer)
        }
        // The transfer may hold the last reference to a transport that was unregistered, whose release calls the
        // application.
        withExtendedLifetime(held) {}
        return events
    }
}
