/// What one URL of a list came to.
package struct PrefetchOutcome: Equatable, Sendable {
    package let error: DownloadError.Code?
    package let detail: DownloadError.Detail
    package let httpStatus: Int32
    package let origin: DownloadResult.Origin

    init(_ result: DownloadResult) {
        error = result.error?.code
        detail = result.error?.detail ?? .none
        httpStatus = result.httpStatus
        origin = result.origin
    }

    private init(cancelled detail: DownloadError.Detail) {
        (error, self.detail, httpStatus, origin) = (.cancelled, detail, 0, .network)
    }

    /// The list was cancelled before it had begun, or while it was loaded.
    static let cancelledWaiting = PrefetchOutcome(cancelled: .cancelledWaiting)
    static let cancelledLoading = PrefetchOutcome(cancelled: .cancelledSending)
}

/// How far a list has come.
package struct PrefetchCounts: Equatable, Sendable {
    package let total: Int
    /// URLs that have ended, those that failed among them (row B30).
    package var finished = 0
    /// Those that failed.
    package var skipped = 0

    init(total: Int) { self.total = total }
}

/// What a list came to.
package struct PrefetchReport: Equatable, Sendable {
    package let counts: PrefetchCounts
    package let isCancelled: Bool
    /// In the order of the URLs.
    package let outcomes: [PrefetchOutcome]

    /// URLs that had not ended when the list was cancelled.
    package var cancelled: Int { counts.total - counts.finished }
}

/// What a host hears of a list, in this order: a step for each URL that ends, then the end.
package enum PrefetchEvent: Sendable {
    /// - Parameter result: without image and bytes, which are where they were wanted.
    case step(index: Int, result: DownloadResult, counts: PrefetchCounts)
    case end(PrefetchReport)

    var isEnd: Bool { if case .end = self { true } else { false } }
}
