import SDDBase
import Synchronization

/// A loader, as its downloader sees it.
protocol LoadRunner: AnyObject, Sendable {
    func cancelAll()
    /// Ends loads whose time has run out.
    /// - Returns: the time at which to look again.
    func clocksLookedAt() -> Int64
}

/// The loaders that use one downloader, held weakly, and the time at which one of them looks at its clocks next.
/// Callable from any thread.
final class LoaderList: Sendable {
    private struct Entry {
        weak var loader: (any LoadRunner)?
    }

    private let entries = Monitor<[Entry]>([])
    private let soonest = Atomic(Int64.max)

    func add(_ loader: any LoadRunner) {
        let others = entries.withLock { entries in
            let others = entries.compactMap { $0.loader }
            entries = (others + [loader]).map { Entry(loader: $0) }
            return others
        }
        // A reference may be the last one to its loader, and is released without the lock.
        withExtendedLifetime(others) {}
    }

    private var living: [any LoadRunner] { entries.withLock { entries in entries.compactMap { $0.loader } } }

    func cancelAll() {
        for loader in living { loader.cancelAll() }
    }

    /// - Returns: true if the clocks must be looked at earlier than was planned.
    func plan(at time: Int64) -> Bool { soonest.min(time, ordering: .sequentiallyConsistent).oldValue > time }

    /// Ends loads whose time has run out.
    /// - Returns: the time at which to look again.
    func lookAtClocks(at now: Int64) -> Int64 {
        if soonest.load(ordering: .sequentiallyConsistent) <= now {
            soonest.store(.max, ordering: .sequentiallyConsistent)
            for loader in living { _ = plan(at: loader.clocksLookedAt()) }
        }
        return soonest.load(ordering: .sequentiallyConsistent)
    }
}
