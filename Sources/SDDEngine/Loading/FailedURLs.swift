package import SDDBase
import SDDCaches
import SDDTransport

/// The URLs that have failed and are not tried again for a while (rows F1 to F7), by key. Owned by a loader, under its
/// lock. A value type; the caller passes the time, in microseconds of a monotonic clock.
///
/// When a URL's wait is over, its loads are let through again and share one attempt; if that fails, too, the next wait
/// is twice as long. A failure during a wait belongs to a load that began before the wait, and does not double it.
///
/// A failure is that of a URL for one caller; another caller may succeed. The conditions that a failure depended on are
/// kept with it: it does not block requests with other header fields where the server selects by them, requests that
/// accept the status, or requests with other decoding options or limits, where these were the cause.
package struct FailedURLs {
    private struct Key: Hashable {
        @ExactText var url: String
        let caller: RequestIdentity

        var byteCount: Int { url.utf8.count + caller.text.utf8.count }
    }

    private struct Entry {
        /// The current wait; the next one is twice as long.
        var delay: Int64
        var end: Int64
        let place: LinkedList<Key>.Place
        let cause: Cause
        /// The time of the last failure.
        let failed: Int64
    }

    /// The conditions that a failure depended on.
    private struct Cause {
        let selection: StoredSelection?
        /// The HTTP status, and whether it was not accepted.
        let status: Int32
        let isRefused: Bool
        /// The options of a decode that failed; `nil` for another failure.
        let reading: FailedURLAsker.Reading?
        /// The limits that were exceeded; `nil` if limits played no part.
        let limits: FailedURLAsker.Limits?

        func holds(for asker: FailedURLAsker) -> Bool {
            if isRefused, asker.acceptance.takes(status: status) { return false }
            if let reading, reading != asker.reading { return false }
            if let limits, limits != asker.limits { return false }
            return selection?.selects(asker.headers, .process) ?? true
        }
    }

    /// A failure that keeps loads of its URL from the network.
    package struct Block {
        /// The HTTP status of the failure; 0 for none.
        let status: Int32
        /// When the URL failed, and when it is tried again; `Int64.max` for never.
        let failed: Int64
        let end: Int64

        /// Returns the result of a load that the block ends.
        func result(at now: Int64) -> DownloadResult {
            let left = end == .max ? nil : end - now
            return DownloadResult(
                error: .blocked(status: status, ago: now - failed, left: left), stage: .submit, httpStatus: status,
                ended: now)
        }
    }

    /// Bounds of the table; the URLs that failed longest ago are forgotten first. A key may be as long as a URL, 64
    /// KiB.
    package static let maxCount = 4096
    package static let maxKeyBytes = 4 << 20
    /// A server that asks for more than a day is asked again after a day.
    package static let longestRetryAfter: Int64 = 86_400_000_000
    /// Time after the end of its wait from which a URL counts as never failed.
    package static let memory: Int64 = 3_600_000_000

    package let policy: FailurePolicy
    private var entries: [Key: Entry] = [:]
    /// The callers for whom each URL has failed.
    private var callers: [ExactText<String>: Set<RequestIdentity>] = [:]
    /// Keys in the order of their last failure.
    private var order = LinkedList<Key>()
    private var keyBytes = 0

    package init(policy: FailurePolicy = .backOff) { self.policy = policy }

    package var count: Int { entries.count }

    /// Returns the reason why a load of the URL by this caller must end without an attempt; `nil` if it need not.
    package func block(_ url: String, for asker: FailedURLAsker, at now: Int64) -> Block? {
        guard let entry = entries[Key(url: url, caller: asker.caller)], now < entry.end, entry.cause.holds(for: asker)
        else { return nil }
        return Block(status: entry.cause.status, failed: entry.failed, end: entry.end)
    }

    /// Whether the URL is blocked for any caller.
    package func isBlocked(_ url: String, at now: Int64) -> Bool {
        let callers = callers[ExactText(url)] ?? []
        return callers.contains { entries[Key(url: url, caller: $0)].map { now < $0.end } ?? false }
    }

    /// Records a load's failure.
    /// - Parameters:
    ///   - status: the HTTP status; 0 for none.
    ///   - response: nil for none.
    ///   - retryAfter: microseconds from now that the server has asked for.
    ///   - decision: the application's decision, if it was asked; nil leaves it to the policy.
    package mutating func record(
        _ url: String, for asker: FailedURLAsker = .standard, _ error: DownloadError, status: Int32,
        response: Response? = nil, retryAfter: Int64?, decision: Bool? = nil, at now: Int64
    ) {
        let wait = policy.wait(after: error, status: status, hasRetryAfter: retryAfter != nil, decision: decision)
        let key = Key(url: url, caller: asker.caller)
        // An empty URL is never blocked: each such load ends with its own error (row M4).
        guard let wait, !url.isEmpty, key.byteCount <= Self.maxKeyBytes else { return }
        let asked = max(0, min(retryAfter ?? 0, Self.longestRetryAfter))
        let (delay, end) = Self.next(wait, asked, after: entries[key], at: now)
        let cause = Cause(
            selection: response.map { StoredSelection(varyOf: $0.asGiven.storableFields, asker.headers, .process) },
            status: status, isRefused: error.code == .invalidStatusCode && status != 0,
            reading: error.code == .badImageData ? asker.reading : nil,
            limits: error.code == .bodyTooLarge || error.code == .tooManyRedirects ? asker.limits : nil)
        remove(key)
        entries[key] = Entry(delay: delay, end: end, place: order.append(key), cause: cause, failed: now)
        callers[ExactText(url), default: []].insert(asker.caller)
        keyBytes += key.byteCount
        while entries.count > Self.maxCount || keyBytes > Self.maxKeyBytes, let oldest = order.first { remove(oldest) }
    }

    /// Records a load's success: the URL counts as never failed (row M18).
    package mutating func succeeded(_ url: String, for asker: FailedURLAsker = .standard) {
        remove(Key(url: url, caller: asker.caller))
    }

    /// Forgets the URL's failures for all callers.
    /// - Returns: whether there were any.
    @discardableResult
    package mutating func remove(_ url: String) -> Bool {
        guard let known = callers[ExactText(url)] else { return false }
        for caller in known { remove(Key(url: url, caller: caller)) }
        return true
    }

    private mutating func remove(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        order.remove(entry.place)
        keyBytes -= key.byteCount
        let url = ExactText(key.url)
        callers[url]?.remove(key.caller)
        if callers[url]?.isEmpty == true { callers[url] = nil }
    }

    package mutating func removeAll() { self = FailedURLs(policy: policy) }
}

// MARK: - Times

extension FailedURLs {
    /// Returns the length of the new or current wait, and its end.
    private static func next(
        _ wait: FailurePolicy.Wait, _ asked: Int64, after before: Entry?, at now: Int64
    ) -> (delay: Int64, end: Int64) {
        guard let before, !isForgotten(before, at: now) else {
            return (wait.first, sum(now, max(wait.first, asked)))
        }
        if now < before.end {
            return (max(wait.first, before.delay), max(before.end, sum(now, max(wait.first, asked))))
        }
        let delay = min(max(wait.first, sum(before.delay, before.delay)), wait.longest)
        return (delay, sum(now, max(delay, asked)))
    }

    private static func isForgotten(_ entry: Entry, at now: Int64) -> Bool { now >= sum(entry.end, memory) }

    /// Adds two times that are not negative; returns `Int64.max` on overflow.
    private static func sum(_ a: Int64, _ b: Int64) -> Int64 {
        let (sum, isOver) = a.addingReportingOverflow(b)
        return isOver ? .max : sum
    }
}
