package import SDDBase

/// A transport of the host's: what it is told. Thread: `sdd-net`, but for `takes`. Its answers go to `PluginTransfers`.
package protocol PluginTransport: AnyObject, Sendable {
    /// Whether it fetches that URL of its scheme. Thread: the submitting one, with no lock held.
    func takes(_ url: ImageURL) -> Bool
    func start(_ id: TransferID, _ request: HTTPRequest, priority: Priority)
    func cancel(_ id: TransferID)
    func setPriority(_ id: TransferID, to priority: Priority)
}

extension PluginTransport {
    package func takes(_ url: ImageURL) -> Bool { true }
}

/// The transfers that the host's own transports are at: passes orders on, collects bodies within the limit,
/// makes events of the answers, keeps the clocks. Orders come on `sdd-net`, answers on any thread.
package final class PluginTransfers: Sendable {
    private final class Transfer: @unchecked Sendable {
        // Safety: touched only under `transfers`' lock, but for the constants.
        let plugin: any PluginTransport
        let request: HTTPRequest
        var started: Int64
        let requestTime: Int64
        var lastActivity: Int64
        var pausedAt: Int64?
        var head: ResponseHead?
        let body = ByteBuilder()
        /// Of the body, also where it is not kept.
        var count: Int64 = 0
        var isShown = false

        init(_ plugin: any PluginTransport, _ request: HTTPRequest, _ time: any TimeSource) {
            self.plugin = plugin
            self.request = request
            started = time.monotonicMicroseconds()
            requestTime = time.wallMicroseconds()
            lastActivity = started
        }
    }

    /// Why an answer is not taken.
    package enum Refusal: Error {
        /// No such transfer, or it has ended.
        case unknown
        /// A response after data, or a second one.
        case outOfOrder
    }

    private let transfers = Monitor<[TransferID: Transfer]>([:])
    private let maxBodyBytes: Int64
    private let time: any TimeSource

    package init(maxBodyBytes: Int64, time: any TimeSource = SystemTime()) {
        self.maxBodyBytes = maxBodyBytes
        self.time = time
    }
}

// MARK: - Orders

/// thread: sdd-net
extension PluginTransfers {
    /// Takes out of `commands` what is for the host's transports, and passes it on.
    package func take(from commands: inout [TransportCommand]) {
        let isEmpty = transfers.withLock { $0.isEmpty }
        guard commands.contains(where: { Self.startsPlugin($0) }) || !isEmpty else { return }
        commands.removeAll { command in
            switch command {
            case .start(let id, let request, let priority): start(id, request, priority)
            case .cancel(let id): cancel(id)
            case .setPriority(let id, let priority): setPriority(id, priority)
            // There is nothing to stop reading from; what comes is kept, up to the limit. The clocks rest.
            case .pause(let id): pause(id)
            case .resume(let id): resume(id)
            case .show(let id): show(id)
            }
        }
    }

    /// From the next data on.
    private func show(_ id: TransferID) -> Bool {
        transfers.withLock { transfers in
            transfers[id]?.isShown = true
            return transfers[id] != nil
        }
    }

    private static func startsPlugin(_ command: TransportCommand) -> Bool {
        if case .start(_, let request, _) = command { request.plugin != nil } else { false }
    }

    private func pause(_ id: TransferID) -> Bool {
        let now = time.monotonicMicroseconds()
        return transfers.withLock { transfers in
            guard let transfer = transfers[id] else { return false }
            transfer.pausedAt = transfer.pausedAt ?? now
            return true
        }
    }

    /// What had been left of each limit is left of it.
    private func resume(_ id: TransferID) -> Bool {
        let now = time.monotonicMicroseconds()
        return transfers.withLock { transfers in
            guard let transfer = transfers[id] else { return false }
            if let pausedAt = transfer.pausedAt {
                transfer.started += now - pausedAt
                transfer.lastActivity += now - pausedAt
            }
            transfer.pausedAt = nil
            return true
        }
    }

    private func start(_ id: TransferID, _ request: HTTPRequest, _ priority: Priority) -> Bool {
        guard let plugin = request.plugin else { return false }
        // The host's transports know nothing of parts.
        var request = request
        if request.resume != nil { request.resume = nil }
        let transfer = Transfer(plugin, request, time)
        transfers.withLock { $0[id] = transfer }
        plugin.start(id, request, priority: priority)
        return true
    }

    private func cancel(_ id: TransferID) -> Bool {
        guard let transfer = transfers.withLock({ $0.removeValue(forKey: id) }) else { return false }
        transfer.plugin.cancel(id)
        return true
    }

    private func setPriority(_ id: TransferID, _ priority: Priority) -> Bool {
        guard let transfer = transfers.withLock({ $0[id] }) else { return false }
        transfer.plugin.setPriority(id, to: priority)
        return true
    }

    /// The downloader ends: nothing more is taken.
    package func cancelAll() {
        let ended = transfers.withLock { transfers in
            defer { transfers = [:] }
            return transfers
        }
        for (id, transfer) in ended { transfer.plugin.cancel(id) }
    }

    /// Ends what has been silent for too long.
    /// - Returns: the ends, and when to look again.
    package func lookAtClocks(at now: Int64) -> (ended: [TransferEvent], next: Int64) {
        let (expired, next) = transfers.withLock { transfers -> ([(TransferID, Transfer, TransportError)], Int64) in
            var next = Int64.max
            var expired: [(TransferID, Transfer, TransportError)] = []
            for (id, transfer) in transfers {
                if let error = Self.expiry(of: transfer, at: now, next: &next) { expired.append((id, transfer, error)) }
            }
            for (id, _, _) in expired { transfers[id] = nil }
            return (expired, next)
        }
        let ends = expired.map { id, transfer, error -> TransferEvent in
            transfer.plugin.cancel(id)
            return .finished(id, TransferEnd(result: .failure(error), response: transfer.head?.response))
        }
        return (ends, next)
    }

    private static func expiry(of transfer: Transfer, at now: Int64, next: inout Int64) -> TransportError? {
        if transfer.pausedAt != nil { return nil }
        let clocks = transfer.request.options.values.clocks
        if clocks.stall > 0 {
            let expiry = transfer.lastActivity + min(clocks.stall, 1 << 40) * 1000
            if expiry <= now {
                return TransportError(.stall, message: "Not a byte came for \(clocks.stall) ms.")
            }
            next = min(next, expiry)
        }
        if clocks.firstByte > 0, transfer.head == nil {
            let expiry = transfer.started + min(clocks.firstByte, 1 << 40) * 1000
            if expiry <= now {
                return TransportError(.firstByteTimeout, message: "No answer came for \(clocks.firstByte) ms.")
            }
            next = min(next, expiry)
        }
        return nil
    }
}

// MARK: - Answers

/// Any thread. Each gives the events that the delegate is to be told, by the caller, with no lock held.
extension PluginTransfers {
    package func responded(
        _ id: TransferID, status: Int32, fields: ResponseFields, expectedBytes: Int64
    ) throws(Refusal) -> [TransferEvent] {
        let now = time.monotonicMicroseconds()
        return try transfers.withLock { transfers throws(Refusal) in
            guard let transfer = transfers[id] else { throw .unknown }
            guard transfer.head == nil else { throw .outOfOrder }
            return [respond(transfer, id, status: status, fields: fields, expectedBytes: expectedBytes, at: now)]
        }
    }

    private func respond(
        _ transfer: Transfer, _ id: TransferID, status: Int32, fields: ResponseFields, expectedBytes: Int64,
        at now: Int64
    ) -> TransferEvent {
        let response = Response(status: status, url: transfer.request.url.text, fields: fields)
        let head = ResponseHead(
            response: response, expectedBytes: max(expectedBytes, -1), requestTime: transfer.requestTime,
            responseTime: time.wallMicroseconds())
        transfer.head = head
        transfer.lastActivity = now
        return .response(id, head)
    }

    /// Nobody cancels what is too large: whoever gave it hears of it here.
    package func received(
        _ id: TransferID, _ data: UnsafeRawBufferPointer
    ) throws(Refusal) -> (events: [TransferEvent], isTooLarge: Bool) {
        let now = time.monotonicMicroseconds()
        let (taken, sink) = try transfers.withLock { transfers throws(Refusal) -> (Taken, BodySink?) in
            guard let transfer = transfers[id] else { throw .unknown }
            var taken = Taken()
            if transfer.head == nil { taken.events.append(standardResponse(transfer, id, at: now)) }
            transfer.lastActivity = now
            if let error = append(data, to: transfer) {
                transfers[id] = nil
                taken.isTooLarge = error.kind == .bodyTooLarge
                taken.events.append(.finished(id, failedEnd(of: transfer, error)))
                return (taken, nil)
            }
            taken.events.append(.received(id, transfer.count))
            if transfer.isShown { taken.events.append(.body(id, transfer.body.soFar())) }
            let isWanted = transfer.head.map { transfer.request.sink?.takes($0.response) ?? false } ?? false
            return (taken, isWanted ? transfer.request.sink : nil)
        }
        guard let sink, let base = data.baseAddress else { return (taken.events, taken.isTooLarge) }
        // Without the lock: answers for one transfer come one at a time.
        let code = sink.write(base, count: data.count)
        return (taken.events + (code == 0 ? [] : failed(id, .sinkNotWritable(systemError: code))), false)
    }

    private struct Taken {
        var events: [TransferEvent] = []
        var isTooLarge = false
    }

    /// - Returns: why not.
    private func append(_ data: UnsafeRawBufferPointer, to transfer: Transfer) -> TransportError? {
        let (total, overflow) = transfer.count.addingReportingOverflow(Int64(data.count))
        guard !overflow, total <= maxBodyBytes else { return .bodyTooLarge(limit: maxBodyBytes) }
        transfer.count = total
        guard let base = data.baseAddress, transfer.request.sink == nil else { return nil }
        return transfer.body.append(base, count: data.count) ? nil : .noMemoryForBody
    }

    private func failed(_ id: TransferID, _ error: TransportError) -> [TransferEvent] {
        guard let transfer = transfers.withLock({ $0.removeValue(forKey: id) }) else { return [] }
        transfer.plugin.cancel(id)
        return [.finished(id, failedEnd(of: transfer, error))]
    }

    private func failedEnd(of transfer: Transfer, _ error: TransportError) -> TransferEnd {
        TransferEnd(result: .failure(error), response: transfer.head?.response)
    }

    private func standardResponse(_ transfer: Transfer, _ id: TransferID, at now: Int64) -> TransferEvent {
        respond(transfer, id, status: 200, fields: ResponseFields(), expectedBytes: -1, at: now)
    }

    package func finished(_ id: TransferID, _ error: TransportError?) throws(Refusal) -> [TransferEvent] {
        let now = time.monotonicMicroseconds()
        return try transfers.withLock { transfers throws(Refusal) in
            guard let transfer = transfers.removeValue(forKey: id) else { throw .unknown }
            var events: [TransferEvent] = []
            if error == nil, transfer.head == nil { events.append(standardResponse(transfer, id, at: now)) }
            var end = TransferEnd(
                result: error.map { .failure($0) } ?? .success(transfer.body.take()),
                response: transfer.head?.response)
            end.timings.total = now - transfer.started
            end.metrics.handedOutBytes = transfer.count
            events.append(.finished(id, end))
            return events
        }
    }
}
