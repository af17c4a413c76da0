import SDDBase
import SDDCoders
import SDDTransport

/// What caches have to do with a job: they are asked first, look at the response, and have what came of it.
extension DownloadTable {
    /// Whoever was asked before the network has answered.
    mutating func answered(_ id: TransferID, _ finding: Finding, at now: Int64, _ effects: inout [Effect]) {
        // Cancelled meanwhile: nobody wants to know.
        guard let job = jobs[id.number], case .asking = job.stage else { return }
        job.answered = now
        switch finding {
        case .found(let found): handOut(found, to: job, at: now, &effects)
        case .network(let exchange):
            if let exchange { prepare(job, for: exchange) }
            wait(job, at: now)
        case .done: endAll(job, at: now, &effects)
        case .failed(let error): endAll(job, error: error, failedAt: .queue, at: now, &effects)
        }
        fill(at: now, &effects)
    }

    private func prepare(_ job: Job<Subscriber>, for exchange: HTTPExchange) {
        job.exchange = exchange
        var request = job.original
        for field in exchange.conditions.fields { request.headers.set(field.name, to: field.value) }
        request.resume = exchange.part?.point
        job.request = request
    }

    private mutating func wait(_ job: Job<Subscriber>, at now: Int64) {
        job.stage = .waiting(waiting.append(job.id, host: job.host, priority: job.priority, at: now))
    }

    private mutating func handOut(
        _ found: Found, to job: Job<Subscriber>, at now: Int64, _ effects: inout [Effect]
    ) {
        job.origin = found.origin
        job.extended = found.extended
        job.keeper = found.keeper
        job.finished = now
        if let inquiry = found.revalidation { errands.append(.revalidate(job.original, inquiry)) }
        if let head = found.head, !serve(head, of: job, at: now, &effects) { return }
        guard let image = found.image else {
            if let body = found.body { arrived(job, body, at: now, &effects) }
            return
        }
        job.body = found.body
        remove(job, &effects)
        for handler in job.handlers {
            end(handler, of: job, image: handler.wantsPixels ? image : nil, at: now, &effects)
        }
        job.handlers = []
    }

    /// The header of what is stored stands for a response.
    /// - Returns: false if nobody takes it.
    private mutating func serve(
        _ head: ResponseHead, of job: Job<Subscriber>, at now: Int64, _ effects: inout [Effect]
    ) -> Bool {
        job.head = head
        job.responded = now
        if job.bodyWork?.modifier == nil { judge(job, Judged(head.response), at: now, &effects) }
        if job.handlers.isEmpty { return false }
        tell(0, of: head.expectedBytes, in: job, at: now, &effects)
        return true
    }
}

// MARK: - On the network

extension DownloadTable {
    /// - Returns: the header to go on with; nil when there is nothing to go on with for now.
    mutating func cacheSees(
        _ head: ResponseHead, of job: Job<Subscriber>, at now: Int64, _ effects: inout [Effect]
    ) -> ResponseHead? {
        guard let exchange = job.exchange else { return head }
        switch exchange.verdict(on: head) {
        case .asItIs:
            if exchange.resumes { save(job, head) }
            return head
        case .stillGood(let response, let served):
            job.outcome = .freshened(response)
            job.origin = .httpRevalidated
            return served
        case .stale(let served):
            stopped(job)
            orders.append(.cancel(job.id))
            if observes { effects.append(.notice(notice(.stop, job, at: now))) }
            serveStored(job, served, at: now, &effects)
            fill(at: now, &effects)
            return nil
        case .again:
            job.asksAgain = true
            return nil
        }
    }

    /// The whole body of a response is there.
    /// - Returns: the bytes to go on with; nil when that was all.
    mutating func cacheSees(
        _ bytes: Bytes, of job: Job<Subscriber>, at now: Int64, _ effects: inout [Effect]
    ) -> Bytes? {
        guard let exchange = job.exchange else { return bytes }
        if job.asksAgain {
            askAgain(job, at: now)
            return nil
        }
        if job.origin == .httpRevalidated, let stored = exchange.storedBody {
            job.extended = exchange.extended
            return exchange.ignoresCached ? endUnchanged(job, at: now, &effects) : stored
        }
        if let head = job.head { job.outcome = exchange.outcome(of: head, body: bytes) }
        return exchange.ignoresCached && exchange.isSame(bytes) ? endUnchanged(job, at: now, &effects) : bytes
    }

    private mutating func endUnchanged(
        _ job: Job<Subscriber>, at now: Int64, _ effects: inout [Effect]
    ) -> Bytes? {
        endAll(job, error: .cachedIsRight, failedAt: .response, at: now, &effects)
        return nil
    }

    /// Without any condition.
    private mutating func askAgain(_ job: Job<Subscriber>, at now: Int64) {
        job.asksAgain = false
        job.exchange = job.exchange?.unconditional
        job.request = job.original
        (job.head, job.end, job.finished) = (nil, nil, 0)
        wait(job, at: now)
    }

    /// The transfer has failed. A stored response may be better than none.
    mutating func servesStale(_ job: Job<Subscriber>, at now: Int64, _ effects: inout [Effect]) -> Bool {
        let wall = SystemTime().wallMicroseconds() / 1_000_000
        guard let exchange = job.exchange, job.outcome == nil, let head = exchange.headInstead(at: wall) else {
            return false
        }
        if observes { effects.append(.notice(notice(.stop, job, at: now))) }
        job.end = nil
        serveStored(job, head, at: now, &effects)
        return true
    }

    /// It is off the network.
    private mutating func serveStored(
        _ job: Job<Subscriber>, _ head: ResponseHead, at now: Int64, _ effects: inout [Effect]
    ) {
        guard let stored = job.exchange?.storedBody else { return }
        job.stage = .asking
        job.origin = .httpStale
        job.extended = job.exchange?.extended
        job.finished = now
        if serve(head, of: job, at: now, &effects) { arrived(job, stored, at: now, &effects) }
    }

    /// In case it breaks off, the body is kept as it comes.
    private mutating func save(_ job: Job<Subscriber>, _ head: ResponseHead) {
        guard let saver = job.exchange?.saver(for: head) else { return }
        job.saver = saver
        orders.append(.show(job.id))
    }
}

// MARK: - The end

extension DownloadTable {
    /// The job is gone: what has been decided about its response is done.
    mutating func leaveCaches(_ job: Job<Subscriber>) {
        if let saver = job.saver { errands.append(.endSaving(saver, isComplete: job.body != nil)) }
        if let exchange = job.exchange { errands.append(.settle(exchange, job.outcome ?? .nothing)) }
        job.saver = nil
        job.exchange = nil
    }

    /// Pixels of what a cache had on disk.
    mutating func keep(_ pictures: [FormedPicture], of job: Job<Subscriber>) {
        guard let keeper = job.keeper else { return }
        for picture in pictures {
            if case .success(let image) = picture.image { errands.append(.keep(keeper, image)) }
        }
    }

    /// What is damaged is not stored, whatever HTTP says of it: row Z12.
    func isNoPicture(_ job: Job<Subscriber>, _ error: DownloadError) {
        guard case .store? = job.outcome else { return }
        switch error.detail {
        case .imageEmpty, .imageUnknownFormat, .imageCorrupt, .imageTruncated, .imageZeroPixels: job.outcome = .nothing
        default: break
        }
    }
}
