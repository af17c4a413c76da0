/// Distinguishes a loop that a flood keeps busy from one that has much to do. In a flood a turn of the loop does not
/// end, or turns follow one another without a sleep; none of the bytes read are delivered, and libcurl keeps taking
/// bytes from a socket. A fast body is delivered piece by piece, and a loop without processor time takes nothing from
/// its sockets. Bytes that libcurl has just taken and is about to deliver are told apart by a second interval, in which
/// a flood goes on. It has no clock of its own. With libcurl 8.7.0 and later every turn ends, but no version up to 8.21.0
/// ends the rows of turns, and with them the reason for this judge.
struct FloodJudge {
    /// The state of the turn, or of a row of turns without a sleep, in microseconds of one clock.
    struct Turn {
        /// The time at which it began; 0 if the loop is not busy.
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
        /// The sockets that flooded since the look before.
        var suspects: [Suspect] = []

        /// Whether the turn is the same, and libcurl has delivered nothing since.
        func isOf(_ turn: Turn) -> Bool { began == turn.began && handedOut == turn.handedOut }
    }

    private struct Suspect {
        var number: UInt64
        var taken: Int64
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

    /// - Parameter turn: Called again after `readings`, because the loop goes on meanwhile: bytes that the readings
    ///   count as taken may have been delivered since the first call.
    /// - Parameter readings: Called only if the turn has lasted for a while.
    /// - Returns: The `number` of the socket that floods.
    mutating func look(at now: Int64, turn: () -> Turn, readings: () -> [OpenSockets.Reading]) -> UInt64? {
        let early = turn()
        guard early.began != 0, now - early.began >= Self.longestLateTurn - Self.leastInterval else {
            last = nil
            return nil
        }
        if let last, last.isOf(early), now - last.time < Self.leastInterval { return nil }
        let before = last
        let seen = readings()
        let turn = turn()
        let suspects = before.map { $0.isOf(turn) ? Self.suspects(seen, since: $0) : [] } ?? []
        last = Look(began: turn.began, handedOut: turn.handedOut, time: now, readings: seen, suspects: suspects)
        let longest = turn.isLate ? Self.longestLateTurn : Self.longestTurn
        guard let before, now - turn.began >= longest else { return nil }
        let floods = suspects.filter { suspect in before.suspects.contains { $0.number == suspect.number } }
        return floods.max { $0.taken < $1.taken }?.number
    }

    /// Returns the sockets from which libcurl has taken more than it reads ahead of a delivery.
    private static func suspects(_ seen: [OpenSockets.Reading], since last: Look) -> [Suspect] {
        seen.compactMap { reading in
            guard let before = last.readings.first(where: { $0.number == reading.number }) else { return nil }
            // Without counts, a socket that always has more bytes is the best guess; sockets with counts take
            // precedence.
            var taken = reading.hasMore && before.hasMore ? mostTaken : 0
            if let now = reading.taken, let then = before.taken { taken = now - then }
            return taken >= mostTaken ? Suspect(number: reading.number, taken: taken) : nil
        }
    }
}
