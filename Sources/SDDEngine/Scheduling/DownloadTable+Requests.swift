import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport

// MARK: - Requests

extension DownloadTable {
    /// Accepts a request.
    /// - Parameters:
    ///   - hit: what the request's lookup has found already: the cache is not asked again.
    ///   - time: the time of its submission, if that was earlier.
    mutating func submitted(
        _ request: DownloadRequest, found hit: CacheHit? = nil, token: Token, listener: Recipient,
        since time: Int64? = nil, at now: Int64
    ) {
        Trace.step("accept the request", .downloader)
        let time = min(time ?? now, now)
        if let error = refusal(of: request) {
            if !request.isStage { return refused(error, listener: listener, at: now) }
            return outbox.append(
                RequestEnd(
                    listener: listener, result: DownloadResult(error: error, stage: .submit, ended: now),
                    isOfStage: true))
        }
        if !request.isStage { statistics.requests += 1 }
        let handler = Handler(token: token, listener, request, maxAttempts: retries.maxAttempts, since: time)
        if request.isShareable, let job = sharedJob(for: request) {
            statistics.joined += 1
            job.caching?.joined(with: request.anyLookup)
            guard join(job, handler, at: now) else { return }
            setClocks(of: token, request, at: time)
        } else {
            let id = add(request, handler, isAnswered: hit != nil, at: now)
            setClocks(of: token, request, at: time)
            if let hit { return answered(id, .found(hit), at: now) }
        }
        fill(at: now)
    }

    private func refusal(of request: DownloadRequest) -> DownloadError? {
        if isClosing, !request.isStage { return .closed }
        // A load accepted before closing ends with the others, or continues from stage to stage while the downloader
        // drains.
        if gate >= .cancelling { return .cancelledLoading }
        return request.form.isPossible ? nil : .impossibleForm
    }

    /// Ends a request immediately that cannot be made.
    mutating func refused(_ error: DownloadError, listener: Recipient, at now: Int64) {
        statistics.requests += 1
        count(error)
        outbox.append(.end(listener, DownloadResult(error: error, stage: .submit, ended: now)))
    }

    private mutating func add(
        _ request: DownloadRequest, _ handler: Handler, isAnswered: Bool, at now: Int64
    ) -> TransferID {
        let id = jobs.makeID()
        let stage: Job<Recipient>.Stage
        var wish: DiskRead?
        if let lookup = request.lookup {
            stage = .asking
            if !isAnswered {
                let made = DiskRead(priority: request.priority)
                wish = made
                outbox.run(.ask(id, lookup, LookupContext(isOffline: rules.isOffline, wish: made)))
            }
        } else {
            let host = request.transfer.hostKey
            stage = .waiting(
                slots.append(.job(id), host: host, priority: request.priority, isPrompt: request.isPrompt, at: now))
        }
        let job = Job<Recipient>(id: id, request, handler, stage)
        job.caching?.wish = wish
        if let claiming = job.claiming {
            job.mustLookAgain = stores.mayHave(claiming.lookup.key, since: claiming.settled)
        }
        jobs.insert(job)
        if job.isPrompt { promptJobsChanged(by: 1) }
        if let place = job.handlers.firstPlace { jobs.add(token: handler.token, at: place, of: job) }
        return id
    }

    mutating func setClocks(of token: Token, _ request: DownloadRequest, at now: Int64) {
        guard request.queueLimit > 0 || request.totalLimit > 0 else { return }
        let all = jobs
        deadlines.add(.queue, of: token, after: request.queueLimit, from: now) { all.contains(token: $0) }
        deadlines.add(.total, of: token, after: request.totalLimit, from: now) { all.contains(token: $0) }
    }

    /// - Returns: false if the handler has already been given its end.
    private mutating func join(_ job: Job<Recipient>, _ handler: Handler, at now: Int64) -> Bool {
        if let error = job.judged?.refusal(by: handler.acceptance) {
            end(handler, of: job, error: error, failedAt: .response, at: now)
            return false
        }
        tellThePast(of: job, to: handler)
        if job.body != nil, !job.needsBodyWork, !job.isDecodedFor(handler) {
            keepOriginal(of: job, for: handler)
            end(handler, of: job, at: now)
            return false
        }
        var handler = handler
        // An attempt that is under way counts as the new handler's first.
        handler.attemptsBefore = max(0, job.started > 0 ? job.attempts - 1 : job.attempts)
        if job.received > 0 { handler.told = (job.received, now) }
        jobs.add(token: handler.token, at: job.handlers.append(handler), of: job)
        if handler.isPrompt { makePrompt(job, at: now) }
        reprioritize(job, at: now)
        updatePause(job)
        considerProgressive(job, at: now)
        if handler.wantsPreviews || handler.wantsFacts { oweStep(job, to: handler) }
        return true
    }

    /// Sends a new handler the facts and the progress that the others have already received.
    private mutating func tellThePast(of job: Job<Recipient>, to handler: Handler) {
        if handler.wantsFacts, let facts = job.facts { outbox.append(.facts(handler.listener, facts)) }
        guard handler.wantsProgress, job.started > 0 else { return }
        outbox.append(.progress(handler.listener, received: 0, expected: -1))
        let size = job.end == nil ? job.head?.expectedBytes : job.received
        guard let size else { return }
        outbox.append(.progress(handler.listener, received: 0, expected: size))
        if job.received > 0 {
            outbox.append(.progress(handler.listener, received: job.received, expected: size))
        }
    }

    /// - Returns: false if the request has already ended or never existed.
    mutating func cancelled(_ token: Token, at now: Int64) -> Bool {
        Trace.step("cancel the request", .downloader)
        if let plain = jobs.plain(of: token) {
            jobs.remove(plain)
            cancelled(plain, at: now)
            fill(at: now)
            return true
        }
        guard let job = job(of: token) else { return false }
        leave(token, error: Self.cancellation(in: job.stage), at: now)
        return true
    }

    /// Ends one handler before its job ends.
    mutating func leave(
        _ token: Token, error: DownloadError, failedAt stage: DownloadResult.Stage? = nil, at now: Int64
    ) {
        guard let member = member(of: token), let handler = member.handler else { return }
        let job = member.job
        if job.handlers.count == 1 { abandon(job, error: error, at: now) }
        end(handler, of: job, error: error, failedAt: stage, at: now)
        job.handlers.remove(member.place)
        if !job.handlers.isEmpty {
            reprioritize(job, at: now)
            updatePause(job)
        }
        fill(at: now)
    }

    private static func cancellation(in stage: Job<Recipient>.Stage) -> DownloadError {
        switch stage {
        case .asking: .cancelledAsking
        case .waiting, .claiming, .pausing: .cancelledWaiting
        case .running: .cancelledSending
        case .received, .lacking, .working: .cancelledDecoding
        }
    }

    /// Cancels all requests, in the order of their jobs' ids.
    mutating func cancelledAll(at now: Int64) {
        outbox.reserveEvents(jobs.tokenCount)
        // Plain requests that were taken are still in the line, and nothing may start before they have left it.
        var plain = jobs.takePlain()[...]
        for job in jobs.sorted {
            while let first = plain.first, first.id.number < job.id.number { cancelled(plain.removeFirst(), at: now) }
            cancelled(job, at: now)
        }
        for request in plain { cancelled(request, at: now) }
    }

    private mutating func cancelled(_ job: Job<Recipient>, at now: Int64) {
        let error = Self.cancellation(in: job.stage)
        abandon(job, error: error, at: now)
        job.handlers.takeAll().forEach { end($0, of: job, error: error, at: now) }
    }

    /// - Returns: false if the request has ended.
    mutating func prioritySet(_ priority: Priority, of token: Token, at now: Int64) -> Bool {
        guard let member = member(of: token) else { return false }
        member.job.handlers.setPriority(priority, at: member.place)
        reprioritize(member.job, at: now)
        fill(at: now)
        return true
    }
}

// MARK: - The whole downloader

extension DownloadTable {
    /// Stops accepting requests for good. Existing requests are cancelled, or run to their normal end.
    mutating func closing(cancels: Bool, at now: Int64) {
        close(cancels ? .cancelling : .draining)
        if cancels { cancelledAll(at: now) }
    }

    /// Ends everything and starts nothing more, because the downloader is being destroyed.
    mutating func closed(at now: Int64) {
        close(.closed)
        cancelledAll(at: now)
    }

    mutating func rulesChanged(at now: Int64, _ change: (inout Rules) -> Void) {
        change(&rules)
        slots.rulesChanged(to: rules, at: now)
        fill(at: now)
    }

    mutating func suspended(_ isSuspended: Bool, at now: Int64) {
        slots.suspended(isSuspended)
        fill(at: now)
    }

    /// - Parameter grace: microseconds; negative means no limit.
    mutating func enteredBackground(grace: Int64, at now: Int64) {
        let (end, overflow) = now.addingReportingOverflow(grace)
        slots.enteredBackground(until: grace < 0 || overflow ? .max : end)
        for job in slots.onNetwork { updatePause(job) }
        clocksLookedAt(at: now)
    }

    /// Resumes all transfers, the most urgent first.
    mutating func enteredForeground(at now: Int64) {
        slots.enteredForeground()
        for job in slots.paused { updatePause(job) }
        fill(at: now)
    }
}

// MARK: - Queries

extension DownloadTable {
    mutating func job(of token: Token) -> Job<Recipient>? { member(of: token)?.job }

    mutating func handler(of token: Token) -> (job: Job<Recipient>, handler: Handler)? {
        guard let member = member(of: token), let handler = member.handler else { return nil }
        return (member.job, handler)
    }

    /// The number of transfers that wait, pause or run.
    var currentDownloadCount: Int { slots.waitingCount + retries.count + slots.running }

    var currentStatistics: Statistics {
        var statistics = statistics
        statistics.waiting = Int64(slots.waitingCount + retries.count)
        statistics.running = Int64(slots.running)
        statistics.decoding = Int64(jobs.count - currentDownloadCount - jobs.askingCount)
        statistics.waitingBytes = Int64(decoding.backlog.total)
        return statistics
    }
}
