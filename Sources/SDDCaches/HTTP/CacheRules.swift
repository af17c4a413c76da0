internal import Glibc
package import SDDBase

/// The rules of HTTP for the cache of one user (RFC 9111, RFC 5861, RFC 8246): what answers a request, what is stored,
/// and what becomes of it. Pure functions; times are handed in, in seconds since 1970.
package enum CacheRules {
    /// - Parameter stored: what is stored for the request's URL, or for the variant it selects.
    package static func answer(
        to request: CacheableRequest, stored: StoredResponse?, now: Int64
    ) -> CacheAnswer {
        let wishes = request.cacheControl
        if request.isOffline { return offlineAnswer(to: request, stored: stored, now: now) }
        let answer = onlineAnswer(to: request, wishes: wishes, stored: stored, now: now)
        switch answer {
        // §5.2.1.7
        case .bypass, .miss, .validate, .staleWhileRevalidate: return wishes.isOnlyIfCached ? .unavailable : answer
        case .fresh, .stale, .unavailable: return answer
        }
    }

    private static func onlineAnswer(
        to request: CacheableRequest, wishes: CacheControl, stored: StoredResponse?, now: Int64
    ) -> CacheAnswer {
        // §5.2.1.5: a request that is not to be stored gets nothing from the store either.
        if request.isBeyondCaches || wishes.isNoStore { return .bypass }
        guard !request.ignoresCache, let stored else { return .miss }
        let control = stored.cacheControl
        guard isKept(stored.status, control), selects(stored, request) else { return .miss }
        let freshness = Freshness(of: stored, control, now: now)
        if mayServe(control, freshness, to: wishes) {
            if freshness.isFresh { return .fresh(age: freshness.age) }
            if let stale = staleAnswer(control, freshness, to: wishes) { return stale }
        }
        return .validate(
            conditions: conditions(of: stored),
            mayServeIfError: mayServeStale(stored, request, now: now, failure: .network))
    }

    /// Without a network: §4.2.4. Another variant than the one wanted is another picture, and no answer.
    private static func offlineAnswer(to request: CacheableRequest, stored: StoredResponse?, now: Int64) -> CacheAnswer
    {
        guard !request.isBeyondCaches, let stored, isKept(stored.status, stored.cacheControl), selects(stored, request)
        else {
            return .unavailable
        }
        let freshness = Freshness(of: stored, now: now)
        return freshness.isFresh ? .fresh(age: freshness.age) : .stale(age: freshness.age)
    }

    /// What must hold before a response is used without asking, fresh or stale.
    private static func mayServe(_ control: CacheControl, _ freshness: Freshness, to wishes: CacheControl) -> Bool {
        // §5.2.2.4, §5.2.1.4
        if control.needsValidation || wishes.asksForValidation { return false }
        // §5.2.1.3
        if let wanted = wishes.minFresh, freshness.lifetime < freshness.age.addingSaturated(wanted) { return false }
        // RFC 8246 §2: while it is fresh, a reload that only doubts its age is answered.
        if control.isImmutable && freshness.isFresh { return true }
        // §5.2.1.1
        return freshness.age <= wishes.maxAge ?? .max
    }

    /// nil when a stale response may not be used: §4.2.4.
    private static func staleAnswer(
        _ control: CacheControl, _ freshness: Freshness, to wishes: CacheControl
    ) -> CacheAnswer? {
        // §5.2.2.2
        if control.mustRevalidate { return nil }
        let takesStale = wishes.maxStale.map { freshness.staleness <= $0 } ?? false
        // RFC 5861 §3. §5.2.1.1: who wants an age wants nothing stale, unless that is said too.
        let isWithinWindow = freshness.staleness < control.staleWhileRevalidate
        if isWithinWindow, !wishes.isOnlyIfCached, takesStale || wishes.maxAge == nil {
            return .staleWhileRevalidate(age: freshness.age)
        }
        return takesStale ? .stale(age: freshness.age) : nil
    }

    /// What a caller gets to see of a stored response: §5.1.
    /// - Returns: nil when there is no memory.
    package static func servedFields(_ stored: StoredResponse, age: Int64) -> ResponseFields? {
        var builder = ResponseFieldsBuilder()
        for field in stored.fields.all where strcasecmp(field.name, "age") != 0 {
            guard builder.append(field.name, field.value) else { return nil }
        }
        guard builder.append("Age", String(min(max(age, 0), DeltaSeconds.largest))) else { return nil }
        return withExtendedLifetime(stored.fields) { builder.take() }
    }
}
