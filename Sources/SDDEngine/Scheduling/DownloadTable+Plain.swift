import SDDBase
import SDDTransport

/// Plain requests: they wait as they are, and become jobs like all others when their turn comes, or when anything else
/// happens to them.
extension DownloadTable {
    /// Accepts a plain request.
    mutating func submitted(_ plain: PlainRequest, at now: Int64) {
        // The clock may have been read for the table before the submission.
        plain.submitted = min(plain.submitted, now)
        guard !isClosing, !jobs.hasShared(plain.hashKey) else {
            let (token, time, request) = (plain.token, plain.submitted, plain.request)
            return submitted(request, token: token, listener: takeListener(of: plain), since: time, at: now)
        }
        Trace.step("accept the request", .downloader)
        statistics.requests += 1
        let request = plain.model.request
        plain.id = jobs.makeID()
        plain.place = slots.append(
            .plain(plain), host: plain.hostKey, priority: request.priority, isPrompt: false, at: now)
        jobs.insert(plain)
        setClocks(of: plain.token, request, at: plain.submitted)
        fill(at: now)
    }

    /// Makes the job of a plain request that waits, in its place.
    mutating func makeJob(of plain: PlainRequest) -> Job<Recipient> {
        let (id, token, time, place) = (plain.id, plain.token, plain.submitted, plain.place)
        let request = plain.request
        jobs.remove(plain)
        let handler = Handler(
            token: token, takeListener(of: plain), request, maxAttempts: retries.maxAttempts, since: time)
        let job = Job<Recipient>(id: id, request, handler, .waiting(place))
        slots.replace(place, by: id)
        jobs.insert(job)
        jobs.add(token: token, at: .first, of: job)
        return job
    }

    /// Cancels a plain request, for which no job is made. It must leave the index.
    mutating func cancelled(_ plain: PlainRequest, at now: Int64) {
        slots.remove(plain.place)
        let error = DownloadError.cancelledWaiting
        count(error)
        var timings = DownloadTimings()
        timings.queue = now - plain.submitted
        timings.total = timings.queue
        let result = DownloadResult(error: error, stage: .queue, timings: timings, ended: now)
        outbox.append(.end(takeListener(of: plain), result))
    }

    /// Makes the listener of a plain request, which is gone then.
    private mutating func takeListener(of plain: PlainRequest) -> Recipient {
        let token = plain.token
        let (callbacks, model) = plain.takeCallbacks()
        if model.holdsObjects { outbox.release(model) }
        return makeListener(token, callbacks)
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
