/// The URLs that have failed and are not tried again for a while (rows F1 to F7), by their keys. Owned by a loader,
/// under its lock; a value that is told the time: microseconds of a clock that never goes back.
///
/// When a wait is over loads are let through again, and share one try; its failure makes the next wait twice as long.
/// Failures during a wait are of loads that had begun before, and do not double it.
package struct FailedURLs {
    private struct Entry {
        /// What the next wait is twice as long as.
        var delay: Int64
        var end: Int64
        let place: LinkedList<String>.Place
    }

    /// Bounds: the URLs that failed longest ago are forgotten first. A key may be as long as a URL, 64 KiB.
    package static let maxCount = 4096
    package static let maxKeyBytes = 4 << 20
    /// A server that asks for more than a day is asked again after a day.
    package static let longestRetryAfter: Int64 = 86_400_000_000
    /// So long after the end of its wait a URL counts as one that has not failed yet.
    package static let memory: Int64 = 3_600_000_000

    package let policy: FailurePolicy
    private var entries: [String: Entry] = [:]
    /// Keys in the order of their last failure.
    private var order = LinkedList<String>()
    private var keyBytes = 0

    package init(policy: FailurePolicy = .backOff) { self.policy = policy }

    package var count: Int { entries.count }

    /// Whether a load of it is to end without being tried.
    package func isBlocked(_ key: String, at now: Int64) -> Bool {
        guard let entry = entries[key] else { return false }
        return now < entry.end
    }

    /// A load has failed.
    /// - Parameters:
    ///   - status: of HTTP; 0 for none.
    ///   - retryAfter: microseconds from now that the server has asked for.
    ///   - decision: the host's, where it was asked; nil for the policy's.
    package mutating func failed(
        _ key: String, _ error: DownloadError, status: Int32, retryAfter: Int64?, decision: Bool? = nil, at now: Int64
    ) {
        let wait = policy.wait(after: error, status: status, hasRetryAfter: retryAfter != nil, decision: decision)
        // No URL at all is no URL that could be blocked: each such load ends with the reason (row M4).
        guard let wait, !key.isEmpty, key.utf8.count <= Self.maxKeyBytes else { return }
        let asked = max(0, min(retryAfter ?? 0, Self.longestRetryAfter))
        let (delay, end) = Self.next(wait, asked, after: entries[key], at: now)
        remove(key)
        entries[key] = Entry(delay: delay, end: end, place: order.append(key))
        keyBytes += key.utf8.count
        while entries.count > Self.maxCount || keyBytes > Self.maxKeyBytes, let oldest = order.first { remove(oldest) }
    }

    /// It was loaded: it counts as one that has never failed (row M18).
    package mutating func succeeded(_ key: String) { remove(key) }

    /// - Returns: whether it was there.
    @discardableResult
    package mutating func remove(_ key: String) -> Bool {
        guard let entry = entries.removeValue(forKey: key) else { return false }
        order.remove(entry.place)
        keyBytes -= key.utf8.count
        return true
    }

    package mutating func removeAll() { self = FailedURLs(policy: policy) }
}

// MARK: - Times

extension FailedURLs {
    /// How long the wait is that begins or goes on, and when it ends.
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

    /// Of what is not negative: no later than the end of time.
    private static func sum(_ a: Int64, _ b: Int64) -> Int64 {
        let (sum, isOver) = a.addingReportingOverflow(b)
        return isOver ? .max : sum
    }
}
