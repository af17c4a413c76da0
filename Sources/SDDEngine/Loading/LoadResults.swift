import SDDBase
import SDDCoders

extension Load {
    /// The result of a load that has no source left.
    var lastFailure: DownloadResult? {
        failures.last.map {
            DownloadResult(error: $0.error, stage: .submit, httpStatus: $0.httpStatus, ended: submitted)
        }
    }
}

extension CacheHit {
    /// Returns the result of a load; `nil` if something must be decoded for it.
    func result(for plan: LoadPlan, at now: Int64) -> DownloadResult? {
        guard image != nil || !(plan.wantsPixels || plan.wantsFacts) else { return nil }
        return result(plan.wantsPixels ? image : nil, at: now)
    }
}

extension DownloadResult {
    /// Returns a stage's result as the load's: timed from the load's submission, with its failures.
    /// - Parameter isInterim: another result follows.
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
            timings: timings, metrics: metrics, failures: failures, storeFailure: load.storeFailure,
            isInterim: isInterim, ended: now
        )
    }

    /// Whether the image was transformed. Animated images are left as they are; one reduced to its first frame is not
    /// animated any more.
    private func isTransformed(by plan: LoadPlan) -> Bool {
        plan.form.transforms != nil && image.map { $0.animation == nil } ?? false
    }

    /// Returns the bytes to hand out. An image in its stored form has its bytes, wherever it comes from. One that was
    /// resized or transformed has none, as those of its original are not its own; but the bytes of its own cache entry
    /// are handed out if they were asked for.
    private func ownBytes(_ plan: LoadPlan) -> Bytes? {
        if !plan.wantsPixels || plan.form.keepsBytes { return bytes ?? image?.bytes }
        let isOwn = origin != .network && (!isOfOriginal || image?.isAsEncoded == true)
        return isOwn && plan.options.contains(.queryMemoryData) ? bytes : nil
    }
}
