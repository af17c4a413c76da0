import Synchronization

/// Admits the loads of a downloader and counts them, without the lock of its table. Thread-safe.
final class LoadGate: Sendable {
    enum Admission {
        case accepted
        /// The downloader accepts no more requests; the load's end reports that.
        case refused
        /// The downloader is being destroyed, and delivers no events of the load.
        case nobody
    }

    /// The state of the downloader. It only ever grows.
    enum State: Int {
        case open
        /// Loads that were accepted may continue with their next stages.
        case draining
        case cancelling
        case closed
    }

    private let current = Atomic(State.open.rawValue)
    private let requests = Atomic<Int64>(0)
    private let succeeded = Atomic<Int64>(0)
    private let failed = Atomic<Int64>(0)
    private let cancelled = Atomic<Int64>(0)

    func close(_ state: State) { current.max(state.rawValue, ordering: .sequentiallyConsistent) }

    func has(_ state: State) -> Bool { current.load(ordering: .sequentiallyConsistent) >= state.rawValue }

    func admit() -> Admission {
        if has(.closed) { return .nobody }
        requests.add(1, ordering: .relaxed)
        return has(.draining) ? .refused : .accepted
    }

    func ended(_ error: DownloadError?) {
        switch error?.code {
        case nil: succeeded.add(1, ordering: .relaxed)
        case .cancelled?: cancelled.add(1, ordering: .relaxed)
        default: failed.add(1, ordering: .relaxed)
        }
    }

    /// Adds the counts of loads to those of other requests.
    func count(into statistics: inout Statistics) {
        statistics.requests += requests.load(ordering: .relaxed)
        statistics.succeeded += succeeded.load(ordering: .relaxed)
        statistics.failed += failed.load(ordering: .relaxed)
        statistics.cancelled += cancelled.load(ordering: .relaxed)
    }
}
