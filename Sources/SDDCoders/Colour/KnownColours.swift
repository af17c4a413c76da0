internal import SDDBase
internal import Synchronization

/// The colours of the last pictures, so that a profile that many pictures share is read, and its tables are made, once.
/// Callable from any thread. A thread that finds another one at work here goes on without it: no thread ever waits, and
/// a child that was forked meanwhile does not either.
final class KnownColours: @unchecked Sendable {
    static let ofProcess = KnownColours()

    // Safety: touched only by the thread that has set `isBusy`.
    private var known: [PictureColour] = []
    private var next = 0
    private let isBusy = Atomic(false)

    private static let most = 8
    /// Bytes of the largest profile that is kept here.
    private static let largest = 1 << 20

    /// Returns what a description means; `nil` if it says nothing that can be used.
    func colour(of description: ColourDescription) -> PictureColour? {
        if description.isEmpty { return nil }
        if let found = whenFree({ known.first { $0.description == description } }) ?? nil {
            return found
        }
        guard let made = PictureColour.made(of: description) else { return nil }
        if made.byteCount > Self.largest { return made }
        // The replaced one is freed after the others may come in again.
        let replaced = whenFree { () -> PictureColour? in
            if known.count < Self.most {
                known.append(made)
                return nil
            }
            defer { next = (next + 1) % Self.most }
            let old = known[next]
            known[next] = made
            return old
        }
        withExtendedLifetime(replaced) {}
        return made
    }

    /// - Returns: `nil` if another thread is at work.
    private func whenFree<Result>(_ work: () -> Result) -> Result? {
        guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else { return nil }
        defer { isBusy.store(false, ordering: .releasing) }
        return work()
    }
}
