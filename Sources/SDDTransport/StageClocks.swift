/// The time limits of one hop of a transfer: which stage it is at, and since when. libcurl's own limits count in
/// whole seconds, and cannot rest while the library itself holds a transfer back. Microseconds of a clock that never
/// jumps. A value.
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
    private var hasSentAll = true
    private var speed: SpeedWindow
    private var pausedAt: Int64?
    /// When the sink took something last; nil while it takes what comes.
    private var sinkMoved: Int64?
    /// Since when the limits on the other end rest, for one reason or both.
    private var restsSince: Int64?

    init(_ limits: TransferClocks, countsConnect: Bool = true, startedAt now: Int64) {
        self.limits = limits
        self.countsConnect = countsConnect
        stageStart = now
        lastActivity = now
        speed = SpeedWindow(limits)
    }

    /// A body is being sent, perhaps while an answer comes already: nothing but a look tells how far it has come.
    var isSending: Bool { stage == .sending || stage == .receiving && !hasSentAll }

    /// The request is about to be sent.
    mutating func connected(hasBody: Bool, at now: Int64) {
        hasSentAll = !hasBody
        enter(hasBody ? .sending : .waiting, at: now)
        if hasBody { speed.begin(at: now, moved: 0) }
    }

    /// - Parameter count: the bytes that were sent, see `look`.
    mutating func sentAll(_ count: Int64 = 0, at now: Int64) {
        hasSentAll = true
        guard stage == .sending else { return }
        enter(.waiting, at: now)
        // How fast a server thinks is the first byte's limit.
        speed.end(moved: count)
    }

    /// Bytes have been sent.
    mutating func sentSome(at now: Int64) { lastActivity = now }

    /// Bytes of an answer have come.
    mutating func received(at now: Int64) {
        enter(.receiving, at: now)
        speed.goOn(at: now)
    }

    private mutating func enter(_ next: Stage, at now: Int64) {
        if stage != next {
            stage = next
            stageStart = now
        }
        lastActivity = now
    }

    /// - Parameter moved: the bytes that have been sent and received so far. Asked only when that matters.
    mutating func look(at now: Int64, moved: () -> Int64 = { 0 }) -> Look {
        if pausedAt != nil { return .later(.max) }
        if let sinkMoved {
            let expiry = end(of: limits.stall, from: sinkMoved)
            return expiry <= now ? .expired(.sinkBlocked) : .later(expiry)
        }
        let (kind, expiry) = nearest
        if expiry <= now { return .expired(kind) }
        if speed.isTooSlow(at: now, moved: moved) { return .expired(.tooSlow) }
        let next = min(expiry, speed.nextLook)
        return .later(isSending ? min(next, now + sendingInterval) : next)
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
        case .tooSlow: limits.slowness
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

// MARK: - Rests

/// While the library itself takes nothing from the network, for one reason or two, that is not the other end's fault:
/// what had been left of each limit is left of it afterwards.
extension StageClocks {
    mutating func pause(at now: Int64) {
        guard pausedAt == nil else { return }
        pausedAt = now
        rest(at: now)
    }

    mutating func resume(at now: Int64) {
        guard let pausedAt else { return }
        self.pausedAt = nil
        if let sinkMoved { self.sinkMoved = sinkMoved + (now - pausedAt) }
        endRest(at: now)
    }

    /// The sink does not take what comes. Its own clock runs, as long as the limit on silence.
    mutating func sinkBlocked(at now: Int64) {
        guard sinkMoved == nil else { return }
        sinkMoved = now
        rest(at: now)
    }

    /// The sink has taken a part of what waits for it.
    mutating func sinkTookSome(at now: Int64) { if sinkMoved != nil { sinkMoved = now } }

    /// The sink has taken all there was.
    mutating func sinkDrained(at now: Int64) {
        guard sinkMoved != nil else { return }
        sinkMoved = nil
        endRest(at: now)
    }

    private mutating func rest(at now: Int64) { restsSince = restsSince ?? now }

    private mutating func endRest(at now: Int64) {
        guard pausedAt == nil, sinkMoved == nil, let since = restsSince else { return }
        restsSince = nil
        stageStart += now - since
        // Bytes may have come in the rest: a later time than now would give the silence more than its limit.
        lastActivity = min(now, lastActivity + (now - since))
        speed.rested(now - since)
    }
}
