/// Whether a stale response is better than an error (RFC 5861 §4, RFC 9111 §4.2.4). Pure.
extension CacheRules {
    /// Why the server could not be asked.
    package enum Failure: Equatable, Sendable {
        /// No response came.
        case network
        case status(Int32)
    }

    /// Only if server or caller said so, and nothing forbids it: a network that is down does not make a picture good
    /// which its server wants nobody to see any more. Offline everything is.
    package static func mayServeStale(
        _ stored: StoredResponse, _ request: CacheableRequest, now: Int64, failure: Failure
    ) -> Bool {
        guard isOutage(failure), !request.isBeyondCaches, isKept(stored.status, stored.cacheControl),
            selects(stored, request)
        else {
            return false
        }
        if request.isOffline { return true }
        let (control, wishes) = (stored.cacheControl, request.cacheControl)
        guard !control.needsValidation, !control.mustRevalidate, !wishes.asksForValidation, !wishes.isNoStore,
            !request.ignoresCache
        else { return false }
        let staleness = Freshness(of: stored, now: now).staleness
        if isWithin(wishes.staleIfError, staleness) { return true }
        // RFC 9111 §5.2.1.1, §5.2.1.3: who wants a young response has not asked for an old one.
        return isWithin(control.staleIfError, staleness) && wishes.maxAge == nil && wishes.minFresh == nil
    }

    /// 0 permits nothing: not even one that is fresh, but not fresh enough for its caller.
    private static func isWithin(_ window: Int64, _ staleness: Int64) -> Bool { window > 0 && staleness < window }

    /// RFC 5861 §4: these are errors; any other status is the server's word on the picture.
    private static func isOutage(_ failure: Failure) -> Bool {
        switch failure {
        case .network: true
        case .status(let status): [500, 502, 503, 504].contains(status)
        }
    }
}
