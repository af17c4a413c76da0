/// Tells a turn of the loop that is held up by a flood from one that has much to do. A flood is: the turn does not end,
/// nothing of what is read is handed out, and all the while libcurl takes bytes from a socket. A fast body is handed out
/// piece by piece, and a loop that gets no processor takes nothing from its sockets. A value, without a clock.
struct FloodJudge {
    /// What is known of the turn, in microseconds of one clock.
    struct Turn {
        /// 0: the loop is not in libcurl.
        var began: Int64
        /// Pieces of headers and bodies that were handed out so far, in all turns.
        var handedOut: UInt64
        /// A time limit of some transfer's has run out meanwhile.
        var isLate: Bool
    }

    private struct Look {
        var began: Int64
        var handedOut: UInt64
        var time: Int64
        var readings: [OpenSockets.Reading]
    }

    static let longestTurn: Int64 = 1_000_000
    /// Of a turn for which somebody's limit is over.
    static let longestLateTurn: Int64 = 250_000
    /// Between two looks that are compared.
    private static let leastInterval: Int64 = 100_000
    /// Of a socket, between two looks. What one that is not held up reads is handed out before that.
    private static let mostTaken: Int64 = 64 << 10

    private var last: Look?

    init() {}

    /// - Parameter readings: asked only where the turn has lasted for a while.
    /// - Returns: the number of the socket that floods.
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

    /// The one that libcurl has taken most from.
    private func flooding(_ seen: [OpenSockets.Reading], since last: Look) -> UInt64? {
        var worst: (number: UInt64, taken: Int64)?
        for reading in seen {
            guard let before = last.readings.first(where: { $0.number == reading.number }) else { continue }
            let taken: Int64
            if let now = reading.taken, let then = before.taken {
                taken = now - then
            } else {
                // Nobody counts: a socket that always has more is the best guess, behind any that is known.
                taken = reading.hasMore && before.hasMore ? Self.mostTaken : 0
            }
            if taken >= Self.mostTaken, taken > worst?.taken ?? 0 { worst = (reading.number, taken) }
        }
        return worst?.number
    }
}
