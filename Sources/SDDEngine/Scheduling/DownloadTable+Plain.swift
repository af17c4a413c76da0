import SDDBase
import SDDTransport

/// Plain requests: they wait as they are, and become jobs like all others when their turn comes, or when anything else
/// happens to them.
extension DownloadTable {
    /// Accepts a plain request.
    mutating func submitted(_ plain: PlainRequest, at now: Int64) {
        guard !isClosing, !jobs.hasShared(plain.hashKey) else {
            let (made, listener) = unfold(plain)
            return submitted(made.request, token: made.token, listener: listener, since: made.submitted, at: now)
        }
        Trace.step("accept the request", .downloader)
        statistics.requests += 1
        let request = plain.kind.request
        plain.id = jobs.makeID()
        plain.place = slots.append(
            .plain(plain), host: plain.hostKey, priority: request.priority, isPrompt: false, at: now)
        jobs.insert(plain)
        setClocks(of: plain.token, request, at: min(plain.submitted, now))
        fill(at: now)
    }

    /// Makes the job of a plain request that waits, in its place.
    mutating func makeJob(of plain: PlainRequest) -> Job<Recipient> {
        jobs.remove(plain)
        let (made, listener) = unfold(plain)
        let handler = Handler(
            token: made.token, listener, made.request, maxAttempts: retries.maxAttempts, since: made.submitted)
        let job = Job<Recipient>(id: made.id, made.request, handler, .waiting(made.place))
        slots.replace(made.place, by: job.id)
        jobs.insert(job)
        jobs.add(token: made.token, at: .first, of: job)
        return job
    }

    /// Makes the request and the listener of a plain request, which is gone then.
    private mutating func unfold(_ plain: PlainRequest) -> (PlainRequest.Unfolded, Recipient) {
        let made = plain.unfold()
        if made.kind.holdsObjects { outbox.release(made.kind) }
        return (made, makeListener(made.token, made.callbacks))
    }
}

// MARK: - Finding them

extension DownloadTable {
    /// Returns the job that waits, which is made now for a plain request.
    mutating func job(of waiter: Waiter) -> Job<Recipient>? {
        switch waiter {
        case .job(let id): jobs[id.number]
        case .plain(let plain): makeJob(of: plain)
        }
    }

    /// Returns the job and the place of a request, which is a plain one no longer.
    mutating func member(of token: Token) -> JobIndex<Recipient>.Member? {
        if let plain = jobs.plain(of: token) { _ = makeJob(of: plain) }
        return jobs.member(of: token)
    }

    /// Returns the job that a new request may join, if there is one.
    mutating func sharedJob(for request: DownloadRequest) -> Job<Recipient>? {
        if let plain = jobs.plain(sharedBy: request.hashKey) { _ = makeJob(of: plain) }
        return jobs.sharedJob(for: request)
    }
}
