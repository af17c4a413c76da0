internal import SDDBase

/// How old a stored response is, and how old it may become (RFC 9111 §4.2). A value, in seconds; neither is negative.
/// Whatever a server says, the sums end at the largest number.
package struct Freshness: Equatable, Sendable {
    package let age: Int64
    package let lifetime: Int64

    /// - Parameter now: seconds since 1970.
    package init(of stored: StoredResponse, now: Int64) { self.init(of: stored, stored.cacheControl, now: now) }

    /// - Parameter control: that of the response, for who has read it already.
    init(of stored: StoredResponse, _ control: CacheControl, now: Int64) {
        let date = Self.date(of: stored)
        age = Self.age(of: stored, date: date, now: now)
        lifetime = Self.lifetime(of: stored, date: date, control)
    }

    /// §4.2: one that has just reached its lifetime is stale.
    package var isFresh: Bool { lifetime > age }

    /// For how long it has been stale; negative while it is fresh.
    package var staleness: Int64 { age - lifetime }

    /// §4.2.3
    private static func age(of stored: StoredResponse, date: Int64, now: Int64) -> Int64 {
        let apparentAge = max(0, stored.responseTime.subtractingSaturated(date))
        let responseDelay = max(0, stored.responseTime.subtractingSaturated(stored.requestTime))
        let correctedAge = ageValue(of: stored.fields).addingSaturated(responseDelay)
        // A clock that was set back does not tell how long ago the response came. Its jump is taken for that: a small
        // one does little, and after a large one nothing stays fresh for as long as the clock was wrong.
        let passed = now.subtractingSaturated(stored.responseTime)
        let residentTime = passed < 0 ? Int64(0).subtractingSaturated(passed) : passed
        return max(apparentAge, correctedAge).addingSaturated(residentTime)
    }

    /// §5.1: the first one counts, and is ignored if it is no number.
    private static func ageValue(of fields: ResponseFields) -> Int64 {
        guard let first = fields.values(of: "Age").first?.utf8 else { return 0 }
        return DeltaSeconds.parse(FieldText.trimmed(first.prefix { $0 != UInt8(ascii: ",") })) ?? 0
    }

    /// RFC 9110 §6.6.1: without one, when it was received.
    private static func date(of stored: StoredResponse) -> Int64 {
        stored.fields["Date"].flatMap { HTTPDate.parse($0.utf8, now: stored.responseTime) } ?? stored.responseTime
    }

    /// §4.2.1
    private static func lifetime(of stored: StoredResponse, date: Int64, _ control: CacheControl) -> Int64 {
        if let maxAge = control.maxAge { return maxAge }
        let expires = stored.fields.values(of: "Expires")
        guard let first = expires.first else { return heuristicLifetime(of: stored, date: date, control) }
        // §5.3: what is no date is in the past. §4.2.1: and so are dates that differ.
        guard expires.allSatisfy({ $0 == first }), let end = HTTPDate.parse(first.utf8, now: stored.responseTime) else {
            return 0
        }
        return max(0, end.subtractingSaturated(date))
    }

    /// §4.2.2: a tenth of the time since it was modified, at most a day.
    private static func heuristicLifetime(of stored: StoredResponse, date: Int64, _ control: CacheControl) -> Int64 {
        guard CacheRules.isHeuristicallyCacheable(stored.status) || control.isPublic,
            // §5.4 leaves open what Pragma means in a response: no server says it who would have us guess.
            stored.fields["Pragma"] == nil,
            let modified = stored.fields["Last-Modified"],
            let time = HTTPDate.parse(modified.utf8, now: stored.responseTime)
        else { return 0 }
        return min(max(0, date.subtractingSaturated(time)) / 10, 86_400)
    }
}
