import SDDBase
import SDDCoders

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
            image: image, reserved: reserved, bytes: ownBytes(load.plan), error: error, stage: stage,
            response: response,
            httpStatus: httpStatus, origin: origin,
            extended: extended, isEndUnproven: isEndUnproven, isTransformed: isTransformed(by: load.plan),
            timings: timings, metrics: metrics, failures: failures, isInterim: isInterim, ended: now
        )
    }

    /// An animated picture stays what it is; what was to become a still one has no frames any more.
    private func isTransformed(by plan: LoadPlan) -> Bool {
        plan.form.transforms != nil && image.map { $0.animation == nil } ?? false
    }

    /// Of a picture as it is stored its bytes, wherever it comes from; of one that is made to a size or transformed none:
    /// those of its original are not its own. What a cache has on disk of it is handed out where that is asked for.
    private func ownBytes(_ plan: LoadPlan) -> Bytes? {
        if !plan.wantsPixels || plan.form.keepsBytes { return bytes ?? image?.bytes }
        let isOwn = origin != .network && !isOfOriginal
        return isOwn && plan.options.contains(.wantsEntryBytes) ? bytes : nil
    }
}
