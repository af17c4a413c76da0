import SDDBase

/// The jobs that pause between two attempts, and the decision on whether there is another one: the pause that the
/// retry policy asks for, and the retries that their host has left. A value, part of the table.
struct RetryQueue {
    private let policy: RetryPolicy
    private var budget: RetryBudget
    private var random: XorShift
    /// The times at which pauses end; some belong to jobs that do not pause any more.
    private var ends = Deadlines<Void>()
    /// The numbers of the ids of pausing jobs.
    private var pausing: Set<UInt64> = []

    /// - Parameter seed: seed of the random numbers that spread retries out.
    init(_ policy: RetryPolicy, seed: UInt64) {
        self.policy = policy
        budget = RetryBudget(most: policy.budget)
        random = XorShift(seed: seed)
    }

    /// Most transfers for a request that sets no number of its own.
    var maxAttempts: Int32 { policy.maxAttempts }

    /// The number of pausing jobs.
    var count: Int { pausing.count }
    /// The number of pauses whose ends are remembered.
    var endCount: Int { ends.count }

    /// Decides whether there is another attempt, and if so takes it from the host's budget.
    /// - Parameters:
    ///   - attempts: attempts made so far, 1 or more.
    ///   - asked: the server's Retry-After in seconds, if it sent one.
    /// - Returns: the pause before the next attempt, in microseconds; nil if there is none.
    mutating func takeRetry(for host: UInt64, after attempts: Int32, asked: Int64?) -> Int64? {
        guard let pause = policy.pause(after: attempts, asked: asked, using: &random), budget.take(for: host) else {
            return nil
        }
        return pause
    }

    /// Records a successful transfer, which may restore a retry.
    mutating func succeeded(at host: UInt64) { budget.succeeded(at: host) }

    /// Adds a pausing job.
    mutating func insert(_ number: UInt64, for duration: Int64, from now: Int64) {
        pausing.insert(number)
        let all = pausing
        ends.add((), of: number, after: max(1, duration), from: now) { all.contains($0) }
    }

    mutating func remove(_ number: UInt64) { pausing.remove(number) }

    /// Removes and returns the number of a job whose pause is over.
    mutating func popEnded(at now: Int64) -> UInt64? {
        while let end = ends.popExpired(at: now) {
            if pausing.remove(end.token) != nil { return end.token }
        }
        return nil
    }

    /// Returns the soonest end of a pause; `Int64.max` if no job pauses.
    mutating func nextEnd() -> Int64 {
        if ends.isEmpty { return .max }
        let all = pausing
        return ends.next { all.contains($0) }
    }
}
