/// Distinguishes a turn of the loop that a flood holds up from one that has much to do. In a flood the turn does not
/// end, none of the bytes read are delivered, and libcurl keeps taking bytes from a socket. A fast body is delivered
/// piece by piece, and a loop without processor time takes nothing from its sockets. It has no clock of its own.
struct FloodJudge {
    /// The state of the turn, in microseconds of one clock.
    struct Turn {
        /// The time at which the turn began; 0 if the loop is not in libcurl.
        var began: Int64
        /// Number of pieces of headers and bodies delivered so far, in all turns.
        var handedOut: UInt64
        /// True if the loop is late for other work, such as a time limit that has expired meanwhile.
        var isLate: Bool
    }

    private struct Look {
        var began: Int64
        var handedOut: UInt64
        var time: Int64
        var readings: [OpenSockets.Reading]
    }

    static let longestTurn: Int64 = 1_000_000
    /// The limit for a turn that makes the loop late.
    static let longestLateTurn: Int64 = 250_000
    /// Minimum time between two looks that are compared.
    private static let leastInterval: Int64 = 100_000
    /// A socket floods if libcurl takes this many bytes from it between two looks. Ordinary data is delivered before
    /// that many are read.
    private static let mostTaken: Int64 = 64 << 10

    private var last: Look?

    init() {}

    /// - Parameter readings: Called only if the turn has lasted for a while.
    /// - Returns: The `number` of the socket that floods.
    mutating func look(_ turn: Turn, at now: Int64, readings: () -> [OpenSockets.Reading]) -> UInt64? {
        guard turn.began != 0, now - turn.began >= Self.longestLateTurn - Self.leastInterval else {
            last = nil
            return nil
        }
        if let last, last.began == turn.began, last.handedOut == turn.handedOut {
            if now - last.time < Self.leastInterval { return nil }
        } else {
            last = nil
        }
        let seen = readings()
        defer { last = Look(began: turn.began, handedOut: turn.handedOut, time: now, readings: seen) }
        guard let last, now - turn.began >= (turn.isLate ? Self.longestLateTurn : Self.longestTurn) else { return nil }
        return flooding(seen, since: last)
    }

    /// Returns the socket from which libcurl has taken the most bytes.
    private func flooding(_ seen: [OpenSockets.Reading], since last: Look) -> UInt64? {
        var worst: (number: UInt64, taken: Int64)?
        for reading in seen {
            guard let before = last.readings.first(where: { $0.number == reading.number }) else { continue }
            let taken: Int64
            if let now = reading.taken, let then = before.taken {
                taken = now - then
            } else {
                // Without counts, a socket that always has more bytes is the best guess; sockets with counts take
                // precedence.
                taken = reading.hasMore && before.hasMore ? Self.mostTaken : 0
            }
            if taken >= Self.mostTaken, taken > worst?.taken ?? 0 { worst = (reading.number, taken) }
        }
        return worst?.number
    }
}
