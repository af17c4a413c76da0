internal import SDDBase

/// The age and the freshness lifetime of a stored response (RFC 9111 §4.2). A value type, in seconds; neither is
/// negative. Sums saturate, whatever values a server sends.
package struct Freshness: Equatable, Sendable {
    package let age: Int64
    package let lifetime: Int64

    /// - Parameter now: seconds since 1970.
    package init(of stored: StoredResponse, now: Int64) { self.init(of: stored, stored.cacheControl, now: now) }

    /// - Parameter control: the response's directives, for a caller that has parsed them already.
    init(of stored: StoredResponse, _ control: CacheControl, now: Int64) {
        let date = Self.date(of: stored)
        age = Self.age(of: stored, date: date, now: now)
        lifetime = Self.lifetime(of: stored, date: date, control)
    }

    /// True if the response is fresh. A response whose age equals its lifetime is stale (§4.2).
    package var isFresh: Bool { lifetime > age }

    /// The time since the response became stale; negative while it is fresh.
    package var staleness: Int64 { age - lifetime }

    /// Returns the current age (§4.2.3).
    private static func age(of stored: StoredResponse, date: Int64, now: Int64) -> Int64 {
        let apparentAge = max(0, stored.responseTime.subtractingSaturated(date))
        let responseDelay = max(0, stored.responseTime.subtractingSaturated(stored.requestTime))
        let correctedAge = ageValue(of: stored.fields).addingSaturated(responseDelay)
        // If the clock was set back, the time since the response is unknown and the size of the jump is used instead: a
        // small jump has little effect, and after a large one no response counts as fresh until the clock has caught
        // up.
        let passed = now.subtractingSaturated(stored.responseTime)
        let residentTime = passed < 0 ? Int64(0).subtractingSaturated(passed) : passed
        return max(apparentAge, correctedAge).addingSaturated(residentTime)
    }

    /// Returns the first value of Age (§5.1), or 0 if it is not a number.
    private static func ageValue(of fields: ResponseFields) -> Int64 {
        guard let first = fields.values(of: "Age").first?.utf8 else { return 0 }
        return DeltaSeconds.parse(FieldText.trimmed(first.prefix { $0 != UInt8(ascii: ",") })) ?? 0
    }

    /// Returns the Date of the response; without one, the time it was received (RFC 9110 §6.6.1).
    private static func date(of stored: StoredResponse) -> Int64 {
        stored.fields["Date"].flatMap { HTTPDate.parse($0.utf8, now: stored.responseTime) } ?? stored.responseTime
    }

    /// Returns the freshness lifetime (§4.2.1).
    private static func lifetime(of stored: StoredResponse, date: Int64, _ control: CacheControl) -> Int64 {
        if let maxAge = control.maxAge { return maxAge }
        let expires = stored.fields.values(of: "Expires")
        guard let first = expires.first else { return heuristicLifetime(of: stored, date: date, control) }
        // §5.3: an invalid date is in the past. §4.2.1: conflicting dates are treated likewise.
        guard expires.allSatisfy({ $0 == first }), let end = HTTPDate.parse(first.utf8, now: stored.responseTime) else {
            return 0
        }
        return max(0, end.subtractingSaturated(date))
    }

    /// Returns the heuristic lifetime (§4.2.2): a tenth of the time since the last modification, at most a day.
    private static func heuristicLifetime(of stored: StoredResponse, date: Int64, _ control: CacheControl) -> Int64 {
        guard CacheRules.isHeuristicallyCacheable(stored.status) || control.isPublic,
            // §5.4 does not define Pragma in a response. A server that sends it does not expect heuristic freshness.
            stored.fields["Pragma"] == nil,
            let modified = stored.fields["Last-Modified"],
            let time = HTTPDate.parse(modified.utf8, now: stored.responseTime)
        else { return 0 }
        return min(max(0, date.subtractingSaturated(time)) / 10, 86_400)
    }
}
