package import SDDBase
import Synchronization

/// An object that makes tokens and handles calls for them until their requests have ended: a downloader, a loader, or
/// its prefetcher. Thread-safe.
package protocol TokenOwner: AnyObject, Sendable {
    /// Cancels the request of a token.
    /// - Returns: nil if the request has ended or was cancelled before, or the token was never this owner's.
    func cancel(_ token: UInt64) -> Cancelled?
    /// Sets the priority of a token's request.
    /// - Returns: false if the request has ended, or the token was never this owner's.
    func setPriority(_ priority: Priority, of token: UInt64) -> Bool
    /// Returns the state of a token's request; `nil` if the request has ended, or the token was never this owner's.
    func information(on token: UInt64) -> RequestInformation?
}

/// The proof that a token was cancelled.
package struct Cancelled {}

/// A place in the table of owners. A token is a number that is never reused in a process, and tells its owner's place:
///
///     serial number (48 bits) | fork generation (8 bits) | place (8 bits)
///
/// Each place has a lock of its own: no table of tokens is searched, and no lock is shared by all owners. When there
/// are more owners than places, owners share places, and each of them is asked. A parent's tokens are invalid in a
/// forked child.
package struct TokenSeat: Sendable {
    private let tail: UInt64

    /// Takes the next place in turn; `join` follows once the owner is made.
    init() {
        let place = Self.lastPlace.wrappingAdd(1, ordering: .relaxed).newValue % UInt64(TokenOwners.placeCount)
        tail = (UInt64(ForkGeneration.current) & 0xff) << 8 | place
    }

    func join(_ owner: any TokenOwner) { TokenOwners.add(owner, at: tail) }

    /// Makes a token of this owner; later tokens are larger.
    func makeToken() -> UInt64 { outside(Self.makeSerial()) }

    /// Makes a serial number that no token has; an id that the application gets for it is unique in the process.
    package static func makeSerial() -> UInt64 { lastSerial.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Makes the number that the application gets for a serial number.
    /// - Parameter serial: from `makeSerial`.
    package func outside(_ serial: UInt64) -> UInt64 { serial << TokenOwners.tailBits | tail }

    private static let lastPlace = Atomic<UInt64>(0)
    private static let lastSerial = Atomic<UInt64>(0)
}

/// The owners of all tokens of the process, which it does not keep alive. Thread-safe.
package enum TokenOwners {
    private struct Entry {
        weak var owner: (any TokenOwner)?
        let generation: UInt64
    }

    /// The thread sanitizer of gcc and clang ends a program that holds 64 locks at a time, as a fork does with all of these.
    static let placeCount = 32
    static let tailBits: UInt64 = 16

    private static let places = (0..<placeCount).map { _ in Monitor<[Entry]>([]) }

    fileprivate static func add(_ owner: any TokenOwner, at tail: UInt64) {
        let others = places[Int(tail & 0xff)].withLock { entries in
            let others = entries.compactMap { $0.owner }
            entries.removeAll { $0.owner == nil }
            entries.append(Entry(owner: owner, generation: tail >> 8))
            return others
        }
        // The last reference to one of them may be here, and is released outside the lock.
        withExtendedLifetime(others) {}
    }

    /// Asks the owners at the token's place, with no lock held, until one returns an answer.
    package static func ask<Answer>(of token: UInt64, _ question: (any TokenOwner) -> Answer?) -> Answer? {
        Trace.step("find the owner of the token")
        let generation = token >> 8 & 0xff
        // Reject the parent's tokens, as the locks of its owners may be held for ever. Owners made in the child have
        // the child's generation.
        guard generation == UInt64(ForkGeneration.current) & 0xff, token & 0xff < UInt64(placeCount) else { return nil }
        let owners = places[Int(token & 0xff)].withLock { entries in
            entries.compactMap { $0.generation == generation ? $0.owner : nil }
        }
        for owner in owners {
            if let answer = question(owner) { return answer }
        }
        return nil
    }

    /// Returns the serial number in a number made by `TokenSeat.outside`.
    package static func inside(_ number: UInt64) -> UInt64 { number >> tailBits }

    package static func lockForFork() { for place in places { place.lockForFork() } }
    package static func unlockInParent() { for place in places { place.unlockInParent() } }
    package static func resetInChild() { for place in places { place.resetInChild() } }
}
