import Synchronization

/// Knows whether a downloader still accepts requests, and counts its loads, without the lock of its table. Thread-safe.
final class DownloaderGate: Sendable {
    /// It only ever grows.
    enum State: Int, Comparable {
        case open
        /// Loads that were accepted may continue with their next stages.
        case draining
        case cancelling
        /// The downloader is being destroyed, and delivers no events of later requests.
        case closed

        static func < (a: State, b: State) -> Bool { a.rawValue < b.rawValue }
    }

    private let current = Atomic(State.open.rawValue)
    private let requests = Atomic<Int64>(0)
    private let succeeded = Atomic<Int64>(0)
    private let failed = Atomic<Int64>(0)
    private let cancelled = Atomic<Int64>(0)

    func close(_ state: State) { current.max(state.rawValue, ordering: .sequentiallyConsistent) }

    func has(_ state: State) -> Bool { current.load(ordering: .sequentiallyConsistent) >= state.rawValue }

    /// Counts a load.
    /// - Returns: false if the downloader accepts no more requests; the load's end reports that.
    func admitsLoad() -> Bool {
        requests.add(1, ordering: .relaxed)
        return !has(.draining)
    }

    func loadEnded(_ error: DownloadError?) {
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
