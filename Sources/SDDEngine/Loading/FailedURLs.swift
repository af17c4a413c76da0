package import SDDBase
import SDDCaches
import SDDTransport

/// The URLs that have failed and are not tried again for a while (rows F1 to F7), by their keys. Owned by a loader,
/// under its lock; a value that is told the time: microseconds of a clock that never goes back.
///
/// When a wait is over loads are let through again, and share one try; its failure makes the next wait twice as long.
/// Failures during a wait are of loads that had begun before, and do not double it.
///
/// A failure is that of a URL for one caller: another may be let in. What it depended on beside that is kept with it, and
/// it stands in nobody's way who has other request fields where the server chooses by them, takes that status, or reads
/// pictures in another way.
package struct FailedURLs {
    private struct Key: Hashable {
        let url: String
        let caller: Caller

        var byteCount: Int { url.utf8.count + caller.text.utf8.count }
    }

    private struct Entry {
        /// What the next wait is twice as long as.
        var delay: Int64
        var end: Int64
        let place: LinkedList<Key>.Place
        let cause: Cause
    }

    /// What a failure depended on.
    private struct Cause {
        let selection: StoredSelection?
        /// A status that was not taken; 0 for another failure.
        let status: Int32
        /// How the picture was read that was none; nil for another failure.
        let reading: FailedURLAsker.Reading?
        /// Of one that another request's limits may not refuse; nil: they do not matter.
        let limits: FailedURLAsker.Limits?

        func holds(for asker: FailedURLAsker) -> Bool {
            if status != 0, asker.acceptance.takes(status: status) { return false }
            if let reading, reading != asker.reading { return false }
            if let limits, limits != asker.limits { return false }
            return selection?.selects(asker.headers, .process) ?? true
        }
    }

    /// Bounds: the URLs that failed longest ago are forgotten first. A key may be as long as a URL, 64 KiB.
    package static let maxCount = 4096
    package static let maxKeyBytes = 4 << 20
    /// A server that asks for more than a day is asked again after a day.
    package static let longestRetryAfter: Int64 = 86_400_000_000
    /// So long after the end of its wait a URL counts as one that has not failed yet.
    package static let memory: Int64 = 3_600_000_000

    package let policy: FailurePolicy
    private var entries: [Key: Entry] = [:]
    /// Of each URL, those for whom it has failed.
    private var callers: [String: Set<Caller>] = [:]
    /// Keys in the order of their last failure.
    private var order = LinkedList<Key>()
    private var keyBytes = 0

    package init(policy: FailurePolicy = .backOff) { self.policy = policy }

    package var count: Int { entries.count }

    /// Whether a load of it by that caller is to end without being tried.
    package func isBlocked(_ url: String, for asker: FailedURLAsker, at now: Int64) -> Bool {
        guard let entry = entries[Key(url: url, caller: asker.caller)] else { return false }
        return now < entry.end && entry.cause.holds(for: asker)
    }

    /// Whether it is blocked for anybody.
    package func isBlocked(_ url: String, at now: Int64) -> Bool {
        callers[url]?.contains { caller in entries[Key(url: url, caller: caller)].map { now < $0.end } ?? false }
            ?? false
    }

    /// A load has failed.
    /// - Parameters:
    ///   - status: of HTTP; 0 for none.
    ///   - response: nil for none.
    ///   - retryAfter: microseconds from now that the server has asked for.
    ///   - decision: the host's, where it was asked; nil for the policy's.
    package mutating func failed(
        _ url: String, for asker: FailedURLAsker = .standard, _ error: DownloadError, status: Int32,
        response: Response? = nil, retryAfter: Int64?, decision: Bool? = nil, at now: Int64
    ) {
        let wait = policy.wait(after: error, status: status, hasRetryAfter: retryAfter != nil, decision: decision)
        let key = Key(url: url, caller: asker.caller)
        // No URL at all is no URL that could be blocked: each such load ends with the reason (row M4).
        guard let wait, !url.isEmpty, key.byteCount <= Self.maxKeyBytes else { return }
        let asked = max(0, min(retryAfter ?? 0, Self.longestRetryAfter))
        let (delay, end) = Self.next(wait, asked, after: entries[key], at: now)
        let cause = Cause(
            selection: response.map { StoredSelection(varyOf: $0.asGiven.fields, asker.headers, .process) },
            status: error.code == .invalidStatusCode ? status : 0,
            reading: error.code == .badImageData ? asker.reading : nil,
            limits: error.code == .bodyTooLarge || error.code == .tooManyRedirects ? asker.limits : nil)
        remove(key)
        entries[key] = Entry(delay: delay, end: end, place: order.append(key), cause: cause)
        callers[url, default: []].insert(asker.caller)
        keyBytes += key.byteCount
        while entries.count > Self.maxCount || keyBytes > Self.maxKeyBytes, let oldest = order.first { remove(oldest) }
    }

    /// It was loaded: it counts as one that has never failed (row M18).
    package mutating func succeeded(_ url: String, for asker: FailedURLAsker = .standard) {
        remove(Key(url: url, caller: asker.caller))
    }

    /// For all callers.
    /// - Returns: whether it was there.
    @discardableResult
    package mutating func remove(_ url: String) -> Bool {
        guard let known = callers[url] else { return false }
        for caller in known { remove(Key(url: url, caller: caller)) }
        return true
    }

    private mutating func remove(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        order.remove(entry.place)
        keyBytes -= key.byteCount
        callers[key.url]?.remove(key.caller)
        if callers[key.url]?.isEmpty == true { callers[key.url] = nil }
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
