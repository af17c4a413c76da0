import SDDBase

/// One URL of a load that came to nothing. Immutable.
package struct SourceFailure: Sendable {
    package let url: String
    package let error: DownloadError
    package let httpStatus: Int32

    init(url: String, result: DownloadResult) {
        self.url = url
        error = result.error ?? .notCached
        httpStatus = result.httpStatus
    }
}

extension Load {
    /// What the load comes to when no source is left.
    var lastFailure: DownloadResult? {
        failures.last.map { DownloadResult(error: $0.error, stage: .submit, ended: submitted) }
    }
}

extension DownloadResult {
    /// A stage's end as that of the load: from when that was submitted, with what else it has come to.
    /// - Parameter isInterim: another follows.
    func ofLoad(_ load: Load, at now: Int64, isInterim: Bool = false) -> DownloadResult {
        var timings = timings
        timings.total = now - load.submitted
        if load.answered > 0 { timings.cache = load.answered - load.submitted }
        if case .storing = load.stage { timings.store = now - load.made }
        let failures = error == nil || load.plan.sources.count > 1 ? load.failures : []
        return DownloadResult(
            image: image, reserved: reserved, bytes: bytes, error: error, stage: stage, response: response,
            origin: origin,
            extended: extended, timings: timings, metrics: metrics, failures: failures, isInterim: isInterim, ended: now
        )
    }
}
