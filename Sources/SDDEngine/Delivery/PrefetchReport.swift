/// The outcome of one URL of a list.
package struct PrefetchOutcome: Equatable, Sendable {
    package let error: DownloadError?
    package let stage: DownloadResult.Stage
    package let httpStatus: Int32
    package let origin: DownloadResult.Origin

    init(_ result: DownloadResult) {
        error = result.error
        stage = result.stage
        httpStatus = result.httpStatus
        origin = result.origin
    }

    private init(cancelled detail: DownloadError.Detail) {
        error = DownloadError(.cancelled, detail, "The list was cancelled.")
        (stage, httpStatus, origin) = (.queue, 0, .network)
    }

    /// The outcomes of URLs that had not begun, or were being loaded, when the list was cancelled.
    static let cancelledWaiting = PrefetchOutcome(cancelled: .cancelledWaiting)
    static let cancelledLoading = PrefetchOutcome(cancelled: .cancelledSending)
}

/// The progress of a list.
package struct PrefetchCounts: Equatable, Sendable {
    package let total: Int
    /// URLs that have ended, including those that failed (row B30).
    package var finished = 0
    /// URLs that failed.
    package var skipped = 0

    init(total: Int) { self.total = total }
}

/// The final report of a list.
package struct PrefetchReport: Equatable, Sendable {
    package let counts: PrefetchCounts
    package let isCancelled: Bool
    /// Outcomes in the order of the URLs.
    package let outcomes: [PrefetchOutcome]

    /// URLs that had not ended when the list was cancelled.
    package var cancelled: Int { counts.total - counts.finished }
}

/// The events of a list, in this order: a step for each URL that ends, then the end.
package enum PrefetchEvent: Sendable {
    /// - Parameter result: without image and bytes, which are in the caches.
    case step(index: Int, result: DownloadResult, counts: PrefetchCounts)
    case end(PrefetchReport)

    var isEnd: Bool { if case .end = self { true } else { false } }
}
