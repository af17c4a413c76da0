import SDDBase

/// Decides whether a failed transfer is retried, and after which pause (row Z7). Its functions are pure, with
/// randomness passed in. A value type; one of the rules of a `DownloadTable`.
struct RetryPolicy: Sendable {
    /// Most transfers for one request, including the first.
    var maxAttempts: Int32 = 1
    /// Most retries that a host may have left, see `RetryBudget`; `nil` means no limit.
    var budget: Int? = 10
    /// Microseconds: the pause after the first failure, and the longest pause.
    var delay: Int64 = 500_000
    var maxDelay: Int64 = 30_000_000

    /// Whether sending the request again has no further effect: nothing was sent, or its method is idempotent (RFC 9110
    /// §9.2.2).
    static func isSafe(method: String, wasSent: Bool) -> Bool {
        !wasSent || ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method)
    }

    /// Returns the pause before the next attempt.
    /// - Parameters:
    ///   - attempts: attempts made so far, 1 or more.
    ///   - asked: the server's Retry-After in seconds, used in place of the computed pause.
    /// - Returns: microseconds; nil if the server asks for more than `maxDelay`, which means that there is no retry.
    func pause(
        after attempts: Int32, asked: Int64? = nil, using random: inout some RandomNumberGenerator
    ) -> Int64? {
        if let asked {
            let (pause, isTooLong) = asked.multipliedReportingOverflow(by: 1_000_000)
            return isTooLong || pause > maxDelay ? nil : max(0, pause)
        }
        let (doubled, isTooLong) = delay.multipliedReportingOverflow(by: 1 << Int64(min(max(attempts - 1, 0), 40)))
        let longest = max(0, isTooLong ? maxDelay : min(doubled, maxDelay))
        // Pauses are random, so that requests that failed together do not come back together.
        return Int64.random(in: (longest - longest / 2)...longest, using: &random)
    }
}
