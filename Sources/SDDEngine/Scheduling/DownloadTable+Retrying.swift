import SDDBase
import SDDCaches
import SDDTransport

/// Retries (row Z7). A job whose transfer has failed pauses if some of its handlers may still retry. After the pause it
/// starts from the beginning: it asks its cache again, or waits for a slot.
extension DownloadTable {
    /// Handles a failed transfer that has left the network. Handlers that may retry wait for the next attempt; the
    /// others end.
    mutating func failed(_ job: Job<Recipient>, _ error: DownloadError, at stage: DownloadResult.Stage, at now: Int64) {
        guard let retry = retry(of: job, after: { _ in error }, at: now) else {
            return endAll(job, error: error, failedAt: stage, at: now)
        }
        carryOut(retry, of: job, after: { _ in error }, failedAt: stage, at: now)
    }

    /// Retries a job whose response was refused, if no handler accepts the response and one may retry.
    /// - Returns: false if there is no further attempt.
    mutating func triesAgain(_ job: Job<Recipient>, refusing judged: Judged, at now: Int64) -> Bool {
        let refusal = { (handler: Handler) in judged.refusal(by: handler.acceptance) }
        guard let retry = retry(of: job, after: refusal, at: now) else { return false }
        if job.isRunning {
            stopped(job)
            send(.cancel(job.id), for: job)
            observe(.stop, job, error: retry.error, at: now)
        }
        carryOut(retry, of: job, after: refusal, failedAt: .response, at: now)
        return true
    }

    /// Restarts the jobs whose pause is over.
    mutating func pausesLookedAt(at now: Int64) {
        while let number = retries.popEnded(at: now) {
            guard let job = jobs[number] else { continue }
            if let caching = job.caching { askAgain(job, caching) } else { wait(job, at: now) }
        }
    }

    private mutating func askAgain(_ job: Job<Recipient>, _ caching: Job<Recipient>.Caching) {
        job.stage = .asking
        let wish = DiskRead(priority: job.priority)
        let question = LookupContext(
            isOffline: rules.isOffline, distrustsStored: caching.distrustsStored, after: caching.lastSaver, wish: wish)
        caching.wish = wish
        outbox.run(.ask(job.id, caching.lookup, question))
        caching.lastSaver = nil
    }

    /// Asks again for a picture whose stored response cannot be decoded, as if it were not stored.
    /// - Returns: false if the error is the job's result.
    mutating func asksServerInstead(_ job: Job<Recipient>, after error: DownloadError) -> Bool {
        guard error.isOfBody, let caching = job.caching, caching.lookup is HTTPCacheLookup,
            caching.origin != .network, !caching.distrustsStored, !job.handlers.contains(where: job.hasShown)
        else { return false }
        caching.distrustsStored = true
        startOver(job)
        askAgain(job, caching)
        return true
    }
}

// MARK: - The decision

extension DownloadTable {
    private struct Retry {
        /// The handlers that wait for the next attempt.
        let handlers: [Handler]
        /// The error of the first of these handlers.
        let error: DownloadError
        /// The pause before the next attempt, in microseconds.
        let pause: Int64
    }

    /// Decides whether there is another attempt, and if so takes it from the retry budget.
    /// - Parameter why: returns the error of a handler; nil for a handler that has not failed, which rules a retry out.
    private mutating func retry(
        of job: Job<Recipient>, after why: (Handler) -> DownloadError?, at now: Int64
    ) -> Retry? {
        // No transfer was started, so the result comes from a cache and would be the same again.
        guard job.started > 0 else { return nil }
        let errors = job.handlers.compactMap(why)
        guard errors.count == job.handlers.count else { return nil }
        let trying = zip(job.handlers, errors).filter { handler, error in job.mayTryAgain(handler, after: error) }
        guard let error = trying.first?.1,
            let pause = retries.takeRetry(
                for: job.host, after: job.attempts, asked: job.secondsAskedFor(by: error))
        else { return nil }
        return Retry(handlers: trying.map { $0.0 }, error: error, pause: pause)
    }

    private mutating func carryOut(
        _ retry: Retry, of job: Job<Recipient>, after why: (Handler) -> DownloadError?,
        failedAt stage: DownloadResult.Stage, at now: Int64
    ) {
        let tokens = Set(retry.handlers.map { $0.token })
        for handler in job.handlers where !tokens.contains(handler.token) {
            end(handler, of: job, error: why(handler), failedAt: stage, at: now)
        }
        job.handlers.removeAll { !tokens.contains($0.token) }
        observe(.retry, job, error: retry.error, at: now, delay: retry.pause)
        startOver(job)
        pause(job, for: retry.pause, at: now)
    }

    /// Resets the job for the next attempt. The part of its body that was saved on disk is kept.
    private mutating func startOver(_ job: Job<Recipient>) {
        forgetBody(of: job)
        leaveCaches(job)
        job.caching?.startOver()
        job.request = job.original
        (job.started, job.head, job.responded, job.end, job.finished) = (0, nil, 0, nil, 0)
        (job.body, job.judged, job.isPaused) = (nil, nil, false)
        job.needsBodyWork = job.bodyWork != nil
    }

    private mutating func pause(_ job: Job<Recipient>, for duration: Int64, at now: Int64) {
        jobs.renumber(job)
        job.stage = .pausing
        job.priority = job.wantedPriority
        retries.insert(job.id.number, for: duration, from: now)
    }
}

extension Job {
    /// Whether the handler has got something of the body.
    fileprivate func hasShown(_ handler: Handler) -> Bool { handler.isShown || (handler.wantsFacts && facts != nil) }

    /// True if the handler may retry after the error. A preview cannot be withdrawn once shown, and bytes written to a
    /// sink cannot be taken back.
    fileprivate func mayTryAgain(_ handler: Handler, after error: DownloadError) -> Bool {
        let wasSent = error.connectStage == nil || end?.metrics.requestBytes != 0
        let isWritten = request.hasSink && (received > 0 || (end?.metrics.handedOutBytes ?? 0) > 0)
        return error.isRetryable && attempts(for: handler) < handler.maxAttempts && !hasShown(handler) && !isWritten
            && RetryPolicy.isSafe(method: original.method, wasSent: wasSent)
    }

    /// Returns the Retry-After delay of the response that caused the error, if it has one.
    fileprivate func secondsAskedFor(by error: DownloadError) -> Int64? {
        guard error.code == .invalidStatusCode else { return nil }
        return RetryAfter.seconds(in: shownResponse, now: (head?.responseTime ?? 0) / 1_000_000)
    }
}
