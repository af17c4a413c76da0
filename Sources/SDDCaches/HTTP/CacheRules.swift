internal import Glibc
package import SDDBase

/// The HTTP caching rules for a private cache (RFC 9111, RFC 5861, RFC 8246): how a request is answered, and which
/// responses are stored, updated and invalidated. Pure functions; times are parameters, in seconds since 1970.
package enum CacheRules {
    /// Returns how to answer a request.
    /// - Parameter stored: the response stored for the request's URL, or for the variant it selects.
    package static func answer(
        to request: CacheableRequest, stored: StoredResponse?, now: Int64
    ) -> CacheAnswer {
        let wishes = request.cacheControl
        if request.isOffline { return offlineAnswer(to: request, stored: stored, now: now) }
        let answer = onlineAnswer(to: request, wishes: wishes, stored: stored, now: now)
        switch answer {
        // §5.2.1.7: only-if-cached forbids a request to the server.
        case .bypass, .miss, .validate, .staleWhileRevalidate: return wishes.isOnlyIfCached ? .unavailable : answer
        case .fresh, .stale, .unavailable: return answer
        }
    }

    private static func onlineAnswer(
        to request: CacheableRequest, wishes: CacheControl, stored: StoredResponse?, now: Int64
    ) -> CacheAnswer {
        // §5.2.1.5: with no-store, nothing stored is used either.
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

    /// Answers a request without network access (§4.2.4). A variant other than the selected one is a different image
    /// and does not count.
    private static func offlineAnswer(to request: CacheableRequest, stored: StoredResponse?, now: Int64) -> CacheAnswer
    {
        guard !request.isBeyondCaches, let stored, isKept(stored.status, stored.cacheControl), selects(stored, request)
        else {
            return .unavailable
        }
        let freshness = Freshness(of: stored, now: now)
        return freshness.isFresh ? .fresh(age: freshness.age) : .stale(age: freshness.age)
    }

    /// Whether a response, fresh or stale, may be used without validation.
    private static func mayServe(_ control: CacheControl, _ freshness: Freshness, to wishes: CacheControl) -> Bool {
        // §5.2.2.4, §5.2.1.4: no-cache requires validation.
        if control.needsValidation || wishes.asksForValidation { return false }
        // §5.2.1.3: min-fresh asks for a response that stays fresh for that long.
        if let wanted = wishes.minFresh, freshness.lifetime < freshness.age.addingSaturated(wanted) { return false }
        // RFC 8246 §2: while an immutable response is fresh, a reload does not revalidate it.
        if control.isImmutable && freshness.isFresh { return true }
        // §5.2.1.1: max-age limits the age.
        return freshness.age <= wishes.maxAge ?? .max
    }

    /// Returns the answer with a stale response; nil if it may not be used (§4.2.4).
    private static func staleAnswer(
        _ control: CacheControl, _ freshness: Freshness, to wishes: CacheControl
    ) -> CacheAnswer? {
        // §5.2.2.2: must-revalidate forbids stale responses.
        if control.mustRevalidate { return nil }
        let takesStale = wishes.maxStale.map { freshness.staleness <= $0 } ?? false
        // RFC 5861 §3. §5.2.1.1: max-age in the request excludes stale responses, unless max-stale allows them.
        let isWithinWindow = freshness.staleness < control.staleWhileRevalidate
        if isWithinWindow, !wishes.isOnlyIfCached, takesStale || wishes.maxAge == nil {
            return .staleWhileRevalidate(age: freshness.age)
        }
        return takesStale ? .stale(age: freshness.age) : nil
    }

    /// Returns the fields of a stored response as served to a caller, with its current Age (§5.1).
    /// - Parameter part: what is served of the body, if it is not the whole.
    /// - Returns: nil when there is no memory.
    package static func servedFields(
        _ stored: StoredResponse, age: Int64, part: ServedRange? = nil
    ) -> ResponseFields? {
        var builder = ResponseFieldsBuilder()
        for field in stored.fields.all where !isReplaced(field.name, isPart: part != nil) {
            guard builder.append(field.name, field.value) else { return nil }
        }
        var added = [("Age", String(min(max(age, 0), DeltaSeconds.largest)))]
        if let part {
            added += [("Content-Range", part.contentRange), ("Content-Length", String(part.bounds.count))]
        }
        for (name, value) in added {
            guard builder.append(name, value) else { return nil }
        }
        return withExtendedLifetime(stored.fields) { builder.take() }
    }

    private static func isReplaced(_ name: ResponseFields.Text, isPart: Bool) -> Bool {
        if strcasecmp(name, "age") == 0 { return true }
        return isPart && (strcasecmp(name, "content-length") == 0 || strcasecmp(name, "content-range") == 0)
    }
}
