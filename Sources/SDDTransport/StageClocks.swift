/// The time limits of one hop of a transfer: which stage it is at, and since when. libcurl's own limits count in
/// whole seconds and in bytes per second, not in silence. Microseconds of a clock that never jumps. A value.
struct StageClocks {
    private enum Stage {
        /// Name lookup, connect, TLS, and waiting for a connection that others are making.
        case connecting
        case sending
        /// Sent, and no byte of an answer.
        case waiting
        case receiving
    }

    enum Look: Equatable {
        /// When to look again; `Int64.max` for never.
        case later(Int64)
        case expired(TransportError.Kind)
    }

    private let limits: TransferClocks
    /// False where libcurl holds transfers back, to have no more connections than it may: then its clock, which
    /// begins with the connect itself, is the only one.
    private let countsConnect: Bool
    private var stage = Stage.connecting
    private var stageStart: Int64
    private var lastActivity: Int64
    private var pausedAt: Int64?

    init(_ limits: TransferClocks, countsConnect: Bool = true, startedAt now: Int64) {
        self.limits = limits
        self.countsConnect = countsConnect
        stageStart = now
        lastActivity = now
    }

    var isSending: Bool { stage == .sending }

    /// The request is about to be sent.
    mutating func connected(hasBody: Bool, at now: Int64) { enter(hasBody ? .sending : .waiting, at: now) }

    mutating func sentAll(at now: Int64) {
        if stage == .sending { enter(.waiting, at: now) }
    }

    /// Bytes have been sent.
    mutating func sentSome(at now: Int64) { lastActivity = now }

    /// Bytes of an answer have come.
    mutating func received(at now: Int64) { enter(.receiving, at: now) }

    private mutating func enter(_ next: Stage, at now: Int64) {
        if stage != next {
            stage = next
            stageStart = now
        }
        lastActivity = now
    }

    mutating func pause(at now: Int64) { pausedAt = pausedAt ?? now }

    /// What had been left of each limit is left of it.
    mutating func resume(at now: Int64) {
        guard let pausedAt else { return }
        self.pausedAt = nil
        stageStart += now - pausedAt
        lastActivity += now - pausedAt
    }

    func look(at now: Int64) -> Look {
        if pausedAt != nil { return .later(.max) }
        let (kind, expiry) = nearest
        if expiry <= now { return .expired(kind) }
        // No callback tells of bytes sent, so these transfers are looked at more often.
        return .later(stage == .sending ? min(expiry, now + sendingInterval) : expiry)
    }

    private var nearest: (TransportError.Kind, Int64) {
        let stall = end(of: limits.stall, from: lastActivity)
        switch stage {
        case .connecting:
            if !countsConnect { return (.connectTimeout, .max) }
            return limits.connect > 0 ? (.connectTimeout, end(of: limits.connect, from: stageStart)) : (.stall, stall)
        case .waiting:
            let firstByte = end(of: limits.firstByte, from: stageStart)
            return firstByte <= stall ? (.firstByteTimeout, firstByte) : (.stall, stall)
        case .sending, .receiving: return (.stall, stall)
        }
    }

    /// `Int64.max` for a limit that is none.
    private func end(of milliseconds: Int64, from start: Int64) -> Int64 {
        guard milliseconds > 0 else { return .max }
        let (limit, isTooLong) = milliseconds.multipliedReportingOverflow(by: 1000)
        let (end, isTooFar) = start.addingReportingOverflow(limit)
        return isTooLong || isTooFar ? .max : end
    }

    /// The limit that has an end, for a message.
    func limit(of kind: TransportError.Kind) -> Int64 {
        switch kind {
        case .connectTimeout: limits.connect
        case .firstByteTimeout: limits.firstByte
        default: limits.stall
        }
    }

    /// An eighth of the shortest limit that sending counts for.
    private var sendingInterval: Int64 {
        switch (limits.firstByte, limits.stall) {
        case (0, 0): 1_000_000
        case (0, let limit), (let limit, 0): max(min(limit, 1 << 40) * 125, 1000)
        case (let one, let other): max(min(one, other, 1 << 40) * 125, 1000)
        }
    }
}
