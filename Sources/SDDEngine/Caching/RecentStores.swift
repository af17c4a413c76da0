import Synchronization

/// The originals that a table has last decided to store. A request that has looked for its original on disk before knows
/// by them whether to look again. A value, part of the table.
struct RecentStores {
    /// The number of stores that are remembered.
    static let kept = 256

    let progress = StoreProgress()
    /// The hash keys of the last stores; that of store number n is at n modulo `kept`.
    private var hashes: [Int] = []
    private var count: UInt64 = 0

    /// Adds a store that is about to be made.
    mutating func add(_ key: String) {
        let place = Int(count % UInt64(Self.kept))
        if place < hashes.count { hashes[place] = key.hashValue } else { hashes.append(key.hashValue) }
        count += 1
        progress.began(count)
    }

    /// Whether the key may have been stored since a thread read `StoreProgress.settled`.
    func mayHave(_ key: String, since settled: UInt64) -> Bool {
        if settled >= count { return false }
        if count - settled > UInt64(Self.kept) { return true }
        let hash = key.hashValue
        return (settled..<count).contains { hashes[Int($0 % UInt64(Self.kept))] == hash }
    }
}

/// How many of the decided stores have been made, so that the disk has them for whoever looks. Thread-safe.
final class StoreProgress: Sendable {
    private let begun = Atomic<UInt64>(0)
    private let made = Atomic<UInt64>(0)
    private let seenSettled = Atomic<UInt64>(0)

    /// - Parameter count: the number of stores that have begun. Called under the table's lock.
    fileprivate func began(_ count: UInt64) { begun.store(count, ordering: .releasing) }

    /// Counts a store that has been made. Stores may be made in another order than they were decided in.
    func ended() {
        let made = made.add(1, ordering: .acquiringAndReleasing).newValue
        // No more than this many had begun: these are all of them.
        if begun.load(ordering: .acquiring) == made { _ = seenSettled.max(made, ordering: .releasing) }
    }

    /// All stores before this one have been made: who looks on disk now, finds them.
    var settled: UInt64 { seenSettled.load(ordering: .acquiring) }
    /// The number of stores that have begun.
    var decided: UInt64 { begun.load(ordering: .acquiring) }
}
