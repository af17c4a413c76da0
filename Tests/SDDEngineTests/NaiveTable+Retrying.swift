import SDDBase

@testable import SDDEngine

// Retries: attempts after the first.
extension NaiveTable {
    typealias Failure = (error: DownloadError.Code, mayPass: Bool)

    /// Returns the failure for a request; nil if it accepts the response.
    static func failure(of verdict: Verdict, for handler: Wish) -> Failure? {
        guard let error = refusal(of: verdict, by: handler.accepts) else { return nil }
        return (error, error == .invalidStatusCode && verdict.status == 500)
    }

    /// All have failed. If some may retry, starts over for them and ends the others.
    mutating func retries(_ index: Int, after why: (Wish) -> Failure?) -> Bool {
        let job = jobs[index]
        let failures = job.handlers.map { why($0) }
        guard job.isStarted, job.share != nil, !failures.contains(where: { $0 == nil }) else { return false }
        let trying = zip(job.handlers, failures).filter { handler, failure in
            let most = handler.maxAttempts > 0 ? handler.maxAttempts : retry.maxAttempts
            return failure?.mayPass == true && job.attempts - handler.attemptsBefore < most
        }
        guard !trying.isEmpty, let pause = retry.pause(after: job.attempts, using: &jitter) else { return false }
        let spent = spent[job.host] ?? (0, 0)
        if let budget = retry.budget, spent.retries >= budget { return false }
        self.spent[job.host] = (spent.retries + 1, spent.successes)
        if job.stage == .running, job.hasResponded, why(job.handlers[0])?.error != .connectionLost {
            commands.append(.cancel(job.id))
        }
        let tokens = trying.map(\.0.token)
        for (handler, failure) in zip(job.handlers, failures) where !tokens.contains(handler.token) {
            if let failure { end(handler.token, failure.error) }
        }
        startOver(index, trying.map(\.0), pause: max(1, pause))
        return true
    }

    private mutating func startOver(_ index: Int, _ handlers: [Wish], pause: Int64) {
        jobs[index].handlers = handlers
        jobs[index].id = newID()
        (jobs[index].stage, jobs[index].pauseEnd) = (.pausing, now + pause)
        (jobs[index].isStarted, jobs[index].isPaused, jobs[index].hasResponded) = (false, false, false)
        (jobs[index].verdict, jobs[index].hasBody, jobs[index].size) = (nil, false, 0)
        jobs[index].needsWork = jobs[index].work != .none
        // With its new id, the job is the last one.
        jobs.append(jobs.remove(at: index))
    }

    mutating func endPauses() {
        let ended = jobs(in: .pausing).filter { $0.pauseEnd <= now }
        for job in ended.sorted(by: { ($0.pauseEnd, $0.id) < ($1.pauseEnd, $1.id) }) {
            guard let index = index(of: job.id) else { continue }
            jobs[index].stage = job.asks ? .asking : .waiting
            if job.asks { asked.append(job.id) } else { (jobs[index].arrival, jobs[index].age) = (arrival(), now) }
        }
    }

    /// Whether nothing has been sent yet for that request.
    func isToBeStarted(_ index: Int, _ token: UInt64) -> Bool {
        let job = jobs[index]
        guard let handler = job.handlers.first(where: { $0.token == token }) else { return false }
        return [.asking, .waiting, .pausing].contains(job.stage) && job.attempts == handler.attemptsBefore
    }

    mutating func succeeded(at host: Int) {
        guard var spent = spent[host] else { return }
        spent.successes += 1
        if spent.successes == RetryBudget.price { spent = (spent.retries - 1, 0) }
        self.spent[host] = spent.retries > 0 ? spent : nil
    }
}
