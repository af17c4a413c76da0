package import SDDBase
import Synchronization

/// What gives out tokens, and answers for them until what they stand for has ended: a downloader, a loader, or its
/// prefetcher. Any thread.
package protocol TokenOwner: AnyObject, Sendable {
    /// - Returns: nil when what the token stands for has ended, or was never this owner's.
    func cancel(_ token: UInt64) -> Cancelled?
    /// - Returns: false in the same cases.
    func setPriority(_ priority: Priority, of token: UInt64) -> Bool
    /// - Returns: nil in the same cases.
    func information(on token: UInt64) -> RequestInformation?
}

/// The proof that a token was cancelled.
package struct Cancelled {}

/// A token is a number that is never used again in a process, and tells where its owner is found:
///
///     serial number (48 bits) | fork generation (8 bits) | place (8 bits)
///
/// Owners sit at places, each with a lock of its own: no table of tokens is searched, and no lock is shared by all. An owner
/// beyond the last place shares one with others, and each is asked. A parent's tokens mean nothing in the child of a fork.
package struct TokenSeat: Sendable {
    private let tail: UInt64

    /// Takes the next place in turn; `join` follows once the owner is made.
    init() {
        let place = Self.lastPlace.wrappingAdd(1, ordering: .relaxed).newValue % UInt64(TokenOwners.placeCount)
        tail = (UInt64(ForkGeneration.current) & 0xff) << 8 | place
    }

    func join(_ owner: any TokenOwner) { TokenOwners.add(owner, at: tail) }

    /// A token of this owner's: later ones are larger.
    func makeToken() -> UInt64 { outside(Self.makeSerial()) }

    /// A serial number that is no token's: also what the application knows by such a number is nothing else in the process.
    package static func makeSerial() -> UInt64 { lastSerial.wrappingAdd(1, ordering: .relaxed).newValue }

    /// - Parameter serial: from `makeSerial`.
    package func outside(_ serial: UInt64) -> UInt64 { serial << TokenOwners.tailBits | tail }

    private static let lastPlace = Atomic<UInt64>(0)
    private static let lastSerial = Atomic<UInt64>(0)
}

/// The owners of all tokens of the process, which it does not keep alive. Any thread.
package enum TokenOwners {
    private struct Entry {
        weak var owner: (any TokenOwner)?
        let generation: UInt64
    }

    static let placeCount = 64
    static let tailBits: UInt64 = 16

    private static let places = (0..<placeCount).map { _ in Monitor<[Entry]>([]) }

    fileprivate static func add(_ owner: any TokenOwner, at tail: UInt64) {
        let others = places[Int(tail & 0xff)].withLock { entries in
            let others = entries.compactMap { $0.owner }
            entries.removeAll { $0.owner == nil }
            entries.append(Entry(owner: owner, generation: tail >> 8))
            return others
        }
        // One of them may be held by nobody else any more, and is let go without the lock.
        withExtendedLifetime(others) {}
    }

    /// Asks the owners that the token may be of, with no lock held, until one has an answer.
    package static func ask<Answer>(of token: UInt64, _ question: (any TokenOwner) -> Answer?) -> Answer? {
        let generation = token >> 8 & 0xff
        // A lock of the parent's may be held for ever; and what a child makes is of its own generation.
        guard generation == UInt64(ForkGeneration.current) & 0xff, token & 0xff < UInt64(placeCount) else { return nil }
        let owners = places[Int(token & 0xff)].withLock { entries in
            entries.compactMap { $0.generation == generation ? $0.owner : nil }
        }
        for owner in owners {
            if let answer = question(owner) { return answer }
        }
        return nil
    }

    /// What was given out by `TokenSeat.outside`.
    package static func inside(_ number: UInt64) -> UInt64 { number >> tailBits }

    package static func lockForFork() { for place in places { place.lockForFork() } }
    package static func unlockInParent() { for place in places { place.unlockInParent() } }
    package static func resetInChild() { for place in places { place.resetInChild() } }
}
