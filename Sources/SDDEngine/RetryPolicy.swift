import SDDBase

/// Whether a transfer that has failed is worth another attempt, and after which pause (row Z7). Pure functions of what is
/// given, time and randomness too; a value among the rules of a `DownloadTable`.
struct RetryPolicy: Sendable {
    /// Transfers for one request, the first included.
    var maxAttempts: Int32 = 1
    /// Retries that a host may have in hand, see `RetryBudget`; nil: no limit.
    var budget: Int? = 10
    /// Microseconds: after the first failure, and at most.
    var delay: Int64 = 500_000
    var maxDelay: Int64 = 30_000_000

    /// Whether sending it again cannot do more than sending it once: where nothing was sent, and with the methods of
    /// RFC 9110 §9.2.2.
    static func isSafe(method: String, wasSent: Bool) -> Bool {
        !wasSent || ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method)
    }

    /// - Parameters:
    ///   - attempts: so far, 1 or more.
    ///   - asked: what the server has asked for, in seconds: used in place of the pause of our own.
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
        // Spread out, lest all who have failed together come back together.
        return Int64.random(in: (longest - longest / 2)...longest, using: &random)
    }
}
