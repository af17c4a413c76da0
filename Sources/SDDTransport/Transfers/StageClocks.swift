/// The time limits of one hop: its stage, and when that began. libcurl's own limits have a resolution of whole seconds,
/// and cannot be suspended while the library itself holds a transfer back. Times are microseconds of a clock that never
/// jumps.
struct StageClocks {
    private enum Stage {
        /// Name lookup, connect, TLS handshake, and waiting for a connection that another transfer opens.
        case connecting
        case sending
        /// The request is sent, and no byte of a response has arrived.
        case waiting
        case receiving
    }

    enum Look: Equatable {
        /// The time of the next look; `Int64.max` means never.
        case later(Int64)
        case expired(TransportError.Kind)
    }

    private let limits: TransferClocks
    /// False if libcurl queues transfers to limit the number of connections. Then only libcurl's own limit applies,
    /// which starts with the connect itself.
    private let countsConnect: Bool
    private var stage = Stage.connecting
    private var stageStart: Int64
    private var lastActivity: Int64
    private var hasSentAll = true
    private var speed: SpeedWindow
    private(set) var pausedAt: Int64?
    /// The time at which the sink last took bytes; `nil` while it is not blocked.
    private var sinkMoved: Int64?
    /// The time since which the limits on the peer are suspended, because of a pause, a blocked sink, or both.
    private var restsSince: Int64?

    init(_ limits: TransferClocks, countsConnect: Bool = true, startedAt now: Int64) {
        self.limits = limits
        self.countsConnect = countsConnect
        stageStart = now
        lastActivity = now
        speed = SpeedWindow(limits)
    }

    var waitsForSink: Bool { sinkMoved != nil }

    /// True while a body is being sent, even if a response already arrives. Its progress is known only by polling.
    var isSending: Bool { stage == .sending || stage == .receiving && !hasSentAll }

    /// Records that the request is about to be sent.
    mutating func connected(hasBody: Bool, at now: Int64) {
        hasSentAll = !hasBody
        enter(hasBody ? .sending : .waiting, at: now)
        if hasBody { speed.begin(at: now, moved: 0) }
    }

    /// Records that the body of the request is sent.
    /// - Parameter count: Bytes sent, counted like `moved` of `look`.
    mutating func sentAll(_ count: Int64 = 0, at now: Int64) {
        hasSentAll = true
        guard stage == .sending else { return }
        enter(.waiting, at: now)
        // The limit on the first byte covers the time that the server needs to respond.
        speed.end(moved: count)
    }

    /// Records that bytes were sent.
    mutating func sentSome(at now: Int64) { lastActivity = now }

    /// Records that bytes of a response have arrived.
    mutating func received(at now: Int64) {
        enter(.receiving, at: now)
        speed.goOn(at: now)
    }

    /// Records that bytes have come of which nothing could be delivered yet.
    /// - Parameter moved: Bytes sent and received so far, counted like `moved` of `look`.
    mutating func heard(at time: Int64, moved: Int64, now: Int64) {
        lastActivity = max(lastActivity, time)
        if now >= speed.nextLook { speed.begin(at: now, moved: moved) }
    }

    /// The time of the last byte in either direction; `nil` where the peer is not expected to send.
    var lastHeard: Int64? {
        switch stage {
        case .connecting, .sending: nil
        case .waiting, .receiving: isSending ? nil : lastActivity
        }
    }

    var leastBytesPerSecond: Int64 { limits.slowness > 0 ? limits.leastBytesPerSecond : 0 }
    var speedWindow: Int64 { speed.length }

    private mutating func enter(_ next: Stage, at now: Int64) {
        if stage != next {
            stage = next
            stageStart = now
        }
        lastActivity = now
    }

    /// Returns the limit that has expired, or the time of the next look.
    /// - Parameter moved: Returns the bytes sent and received so far. Called only if they matter.
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

    /// Returns the end of a limit; `Int64.max` if there is no limit.
    private func end(of milliseconds: Int64, from start: Int64) -> Int64 {
        guard milliseconds > 0 else { return .max }
        let (limit, isTooLong) = milliseconds.multipliedReportingOverflow(by: 1000)
        let (end, isTooFar) = start.addingReportingOverflow(limit)
        return isTooLong || isTooFar ? .max : end
    }

    /// Returns the duration of an expired limit in milliseconds, for a message.
    func limit(of kind: TransportError.Kind) -> Int64 {
        switch kind {
        case .connectTimeout: limits.connect
        case .firstByteTimeout: limits.firstByte
        case .tooSlow: limits.slowness
        default: limits.stall
        }
    }

    /// Interval between looks while sending: an eighth of the shortest limit that applies.
    private var sendingInterval: Int64 {
        switch (limits.firstByte, limits.stall) {
        case (0, 0): 1_000_000
        case (0, let limit), (let limit, 0): max(min(limit, 1 << 40) * 125, 1000)
        case (let one, let other): max(min(one, other, 1 << 40) * 125, 1000)
        }
    }
}

// MARK: - Suspension

/// Suspends the limits while the library itself reads nothing from the network, because of a pause, a blocked sink, or
/// both. That is not the peer's fault, so each limit continues afterwards with the time that was left.
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

    /// Records that the sink is blocked. The sink has its own clock, with the limit on silence (`stall`).
    mutating func sinkBlocked(at now: Int64) {
        guard sinkMoved == nil else { return }
        sinkMoved = now
        rest(at: now)
    }

    /// Records that the sink has taken a part of the waiting bytes.
    mutating func sinkTookSome(at now: Int64) { if sinkMoved != nil { sinkMoved = now } }

    /// Records that the sink has taken all waiting bytes.
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
        // Bytes may have arrived during the suspension. A time after now would extend the limit on silence.
        lastActivity = min(now, lastActivity + (now - since))
        speed.rested(since: since, until: now)
    }
}
