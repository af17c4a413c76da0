import SDDBase
import SDDCoders
import SDDTransport

extension DownloadTable {
    /// Takes the next commands for a network thread, in order. The first thread also looks at the clocks.
    /// - Returns: the time by which the thread must ask again.
    mutating func transportAsks(
        for commands: inout [TransportCommand], on thread: NetworkThreads = .first, at now: Int64
    ) -> Int64 {
        guard thread == .first else {
            outbox.takeCommands(of: thread, into: &commands)
            return .max
        }
        clocksLookedAt(at: now)
        fill(at: now)
        let deadline = nextDeadline()
        outbox.takeCommands(of: thread, into: &commands)
        outbox.promised(deadline)
        return deadline
    }

    mutating func transportReports(_ event: TransferEvent, at now: Int64) {
        switch event {
        case .response(let id, let head):
            if let job = runningJob(id) { responded(job, head, at: now) }
        case .received(let id, let count):
            if let job = runningJob(id) { received(job, count, at: now) }
        case .body(let id, let bytes):
            if let job = runningJob(id) { bodyShown(job, bytes) }
        case .finished(let id, let end):
            if let job = runningJob(id) { finished(job, end, at: now) }
        case .message(let id, let level, let text): said(id, level, text, at: now)
        }
    }

    private func runningJob(_ id: TransferID) -> Job<Recipient>? {
        guard let job = jobs[id.number], job.isRunning else { return nil }
        return job
    }

    private mutating func responded(_ job: Job<Recipient>, _ head: ResponseHead, at now: Int64) {
        guard let head = cacheSees(head, of: job, at: now) else { return }
        job.head = head
        job.responded = now
        observe(.response, job, at: now)
        // A response that a modifier may change is judged after the modifier has run.
        if job.bodyWork?.modifier == nil {
            judge(job, Judged(head.response), at: now)
            if job.handlers.isEmpty || !job.isRunning {
                fill(at: now)
                return
            }
        }
        tell(0, of: head.expectedBytes, in: job, at: now)
    }

    /// Ends the handlers that do not accept the response. If none is left, the transfer is cancelled too, because its
    /// body is not worth reading, unless the job retries.
    mutating func judge(_ job: Job<Recipient>, _ judged: Judged, at now: Int64) {
        job.judged = judged
        guard job.handlers.contains(where: { !judged.isAccepted(by: $0.acceptance) }) else { return }
        if job.isRunning, triesAgain(job, refusing: judged, at: now) { return }
        let handlers = job.handlers
        job.handlers.removeAll { !judged.isAccepted(by: $0.acceptance) }
        for handler in handlers {
            guard let error = judged.refusal(by: handler.acceptance) else { continue }
            if job.handlers.isEmpty, jobs[job.id.number] != nil {
                sayRefused(job, error, at: now)
                abandon(job, error: error, at: now)
            }
            end(handler, of: job, error: error, failedAt: .response, at: now)
        }
        if !job.handlers.isEmpty {
            reprioritize(job, at: now)
            updatePause(job)
        }
    }

    private mutating func received(_ job: Job<Recipient>, _ count: Int64, at now: Int64) {
        job.received = count
        if !job.request.hasSink { holds(count, of: job) }
        considerProgressive(job, at: now)
        tell(count, of: job.head?.expectedBytes ?? -1, in: job, at: now)
    }

    private mutating func finished(_ job: Job<Recipient>, _ end: TransferEnd, at now: Int64) {
        job.end = end
        job.finished = now
        count(end)
        switch end.result {
        case .failure(let error):
            let error = DownloadError(error)
            let stage = error.connectStage ?? job.stageReached
            stopped(job)
            if error.code == .protocol { forgetPart(of: job) }
            if servesStale(job, at: now) { break }
            observe(.stop, job, error: error, at: now)
            failed(job, error, at: stage, at: now)
        case .success(let bytes):
            stopped(job)
            job.isEndUnproven = !end.isEndProven && !PictureEnd.isReached(in: bytes)
            if (end.response?.status ?? 0) < 400 { retries.succeeded(at: job.host) }
            observe(.finish, job, at: now)
            observe(.stop, job, at: now)
            if let bytes = cacheSees(bytes, of: job, at: now) { arrived(job, bytes, at: now) }
        }
        fill(at: now)
    }

    mutating func count(_ metrics: TransferMetrics) {
        statistics.connectionsOpened += Int64(metrics.connectionsOpened)
        statistics.requestBytes += metrics.requestBytes
        statistics.headerBytes += metrics.headerBytes
        statistics.wireBodyBytes += metrics.bodyBytes
    }

    private mutating func count(_ end: TransferEnd) {
        count(end.metrics)
        if case .success(let bytes) = end.result {
            statistics.transfersSucceeded += 1
            statistics.bodyBytes += max(Int64(bytes.count), end.metrics.handedOutBytes)
        }
    }

    /// Handles a complete body.
    mutating func arrived(_ job: Job<Recipient>, _ bytes: Bytes, at now: Int64) {
        if job.end != nil { Trace.step("take the body", .downloader) }
        job.body = bytes
        job.received = !job.request.hasSink ? Int64(bytes.count) : job.end?.metrics.handedOutBytes ?? 0
        // The last progress of a complete body reports its size as the total, even if no length was announced. A cached
        // body from disk is not a download and has no progress, unless it stands for a response.
        if job.received > 0, job.caching?.origin != .disk || job.head != nil {
            tell(job.received, of: job.received, in: job, isLast: true, at: now)
        }
        if job.needsBodyWork { queue(job) } else { handOut(job, at: now) }
    }

    /// Logs that no caller accepts the response.
    private mutating func sayRefused(_ job: Job<Recipient>, _ error: DownloadError, at now: Int64) {
        guard logs >= .info else { return }
        let message = "Failed: \(error.message)"
        outbox.append(.notice(notice(.log, job, at: now, level: .info, message: message), to: nil))
    }

    private mutating func said(_ id: TransferID, _ level: LogLevel, _ text: String, at now: Int64) {
        guard level <= logs else { return }
        if let job = jobs[id.number] {
            outbox.append(.notice(notice(.log, job, at: now, level: level, message: text), to: nil))
        } else {
            outbox.append(
                .notice(
                    Notice(.log, transfer: id.number, token: 0, url: nil, time: now, level: level, message: text),
                    to: nil))
        }
    }
}

// MARK: - Handing out

extension DownloadTable {
    /// Ends the handlers that want bytes, and queues the job for a decode thread if others want pixels or facts.
    mutating func handOut(_ job: Job<Recipient>, at now: Int64) {
        if job.handlers.haveKeepers { job.handlers.forEach { if !$0.wantsPixels { keepOriginal(of: job, for: $0) } } }
        if !job.isDecoded { return endAll(job, at: now) }
        job.handlers.forEach { if !job.isDecodedFor($0) { end($0, of: job, at: now) } }
        job.handlers.removeAll { !job.isDecodedFor($0) }
        queue(job)
    }

    /// Queues the job for a decode thread, with the priority of its remaining handlers.
    mutating func queue(_ job: Job<Recipient>) {
        if job.progressive?.isWorking == true {
            // A stream takes one step at a time, so the last step follows the one in progress.
            job.progressive?.bodyWaits = true
            job.stage = .working
            return
        }
        job.priority = job.wantedPriority
        job.stage = .received(decoding.append(job))
        updateHold()
        outbox.addWork()
    }
}
