/// Use of stale responses in place of an error (RFC 5861 §4, RFC 9111 §4.2.4). Pure.
extension CacheRules {
    /// The reason why validation failed.
    package enum Failure: Equatable, Sendable {
        /// No response came.
        case network
        case status(Int32)
    }

    /// Whether a stale response may be served in place of an error: only if the server or the caller allows it and
    /// nothing forbids it. A network failure does not permit showing an image that its server has withdrawn. Offline,
    /// every stored response is allowed.
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
        // RFC 9111 §5.2.1.1, §5.2.1.3: max-age and min-fresh ask for a fresh response.
        return isWithin(control.staleIfError, staleness) && wishes.maxAge == nil && wishes.minFresh == nil
    }

    /// Whether a staleness is within a window. 0 permits nothing, not even a response that is fresh but not fresh
    /// enough for the caller.
    private static func isWithin(_ window: Int64, _ staleness: Int64) -> Bool { window > 0 && staleness < window }

    /// Whether a failure counts as an error (RFC 5861 §4). Any other status is a valid answer of the server.
    private static func isOutage(_ failure: Failure) -> Bool {
        switch failure {
        case .network: true
        case .status(let status): [500, 502, 503, 504].contains(status)
        }
    }
}
