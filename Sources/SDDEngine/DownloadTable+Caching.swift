import SDDBase
import SDDCoders
import SDDTransport

/// What caches have to do with a job: they are asked first, look at the response, and have what came of it.
extension DownloadTable {
    /// Whoever was asked before the network has answered.
    mutating func answered(_ id: TransferID, _ finding: Finding, at now: Int64, _ effects: inout [Effect]) {
        // Cancelled meanwhile: nobody wants to know.
        guard let job = jobs[id.number], let caching = job.caching, job.isAsking || job.isClaiming else { return }
        let finding = caching.servesOthers ? finding.forAll : finding
        if case .network(let exchange) = finding, job.isClaiming {
            caching.exchange = exchange
            if let exchange { prepare(job, for: exchange) }
            begin(job, at: now, &effects)
            // What holds others back may have come while it asked.
            return updatePause(job)
        }
        // Its place is for others.
        if job.isClaiming {
            stopped(job)
            job.stage = .asking
        } else {
            caching.answered = now
        }
        switch finding {
        case .found(let found): handOut(found, to: job, caching, at: now, &effects)
        case .network(let exchange):
            caching.exchange = exchange
            if let exchange { prepare(job, for: exchange) }
            wait(job, at: now)
        case .turn(let look):
            caching.turn = look
            wait(job, at: now)
        case .busy(let look): errands.append(.awaitOther(job.id, look))
        case .done: endAll(job, at: now, &effects)
        case .failed(let error): endAll(job, error: error, failedAt: .queue, at: now, &effects)
        }
        fill(at: now, &effects)
    }

    private func prepare(_ job: Job<Subscriber>, for exchange: HTTPExchange) {
        var request = job.original
        for field in exchange.conditions.fields { request.headers.set(field.name, to: field.value) }
        request.resume = exchange.part?.point
        job.request = request
    }

    mutating func wait(_ job: Job<Subscriber>, at now: Int64) {
        job.stage = .waiting(
            waiting.append(job.id, host: job.host, priority: job.priority, isPrompt: job.isPrompt, at: now))
    }

    private mutating func handOut(
        _ found: Found, to job: Job<Subscriber>, _ caching: Job<Subscriber>.Caching, at now: Int64,
        _ effects: inout [Effect]
    ) {
        caching.origin = found.origin
        caching.extended = found.extended
        caching.isMade = found.isMade
        caching.isOfOriginal = found.isOfOriginal
        caching.keeper = found.keeper
        caching.selection = found.selection
        job.finished = now
        if let inquiry = found.revalidation { errands.append(.revalidate(job.original, inquiry)) }
        if let head = found.head, !serve(head, of: job, at: now, &effects) { return }
        guard let image = found.image else {
            guard let body = found.body else { return endAll(job, error: .notCached, at: now, &effects) }
            return arrived(job, body, at: now, &effects)
        }
        job.body = found.body
        remove(job, &effects)
        for handler in job.handlers {
            end(handler, of: job, image: handler.wantsPixels ? image : nil, at: now, &effects)
        }
        job.handlers.removeAll()
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
        guard let caching = job.caching, let exchange = caching.exchange else { return head }
        switch exchange.verdict(on: head) {
        case .asItIs:
            // In case it breaks off, the body is kept as it comes.
            if exchange.resumes { caching.saver = exchange.saver(for: head) }
            return head
        case .stillGood(let response, let served):
            caching.outcome = head.response.isOfUnknownCaller ? .nothing : .freshened(response)
            caching.origin = .httpRevalidated
            return served
        case .stale(let served):
            stopped(job)
            orders.append(.cancel(job.id))
            if observes { effects.append(.notice(notice(.stop, job, at: now))) }
            serveStored(job, served, at: now, &effects)
            fill(at: now, &effects)
            return nil
        case .again:
            caching.asksAgain = true
            return nil
        }
    }

    /// The whole body of a response is there.
    /// - Returns: the bytes to go on with; nil when that was all.
    mutating func cacheSees(
        _ bytes: Bytes, of job: Job<Subscriber>, at now: Int64, _ effects: inout [Effect]
    ) -> Bytes? {
        guard let caching = job.caching, let exchange = caching.exchange else { return bytes }
        exchange.countResumed(job.end?.metrics.resumedBytes ?? 0)
        if caching.asksAgain {
            askAgain(job, caching, at: now)
            return nil
        }
        if caching.origin == .httpRevalidated, let stored = exchange.storedBody {
            caching.extended = exchange.extended
            // Not the 304, but what it stands for.
            job.end?.response = job.head?.response
            return exchange.ignoresCached ? endUnchanged(job, at: now, &effects) : stored
        }
        if let head = job.head {
            let outcome = exchange.outcome(of: head, body: bytes)
            // RFC 9111 §3.3: what may be incomplete is not stored as if it were not.
            if case .store = outcome, job.isEndUnproven {
                caching.outcome = .nothing
            } else {
                caching.outcome = outcome
            }
        }
        return exchange.ignoresCached && exchange.isSame(bytes) ? endUnchanged(job, at: now, &effects) : bytes
    }

    private mutating func endUnchanged(
        _ job: Job<Subscriber>, at now: Int64, _ effects: inout [Effect]
    ) -> Bytes? {
        endAll(job, error: .cachedIsRight, failedAt: .response, at: now, &effects)
        return nil
    }

    /// Without any condition.
    private mutating func askAgain(_ job: Job<Subscriber>, _ caching: Job<Subscriber>.Caching, at now: Int64) {
        caching.asksAgain = false
        caching.exchange = caching.exchange?.unconditional
        job.request = job.original
        (job.head, job.end, job.finished) = (nil, nil, 0)
        wait(job, at: now)
    }

    /// The rest of a body makes no sense: nor does what is kept of it.
    mutating func forgetPart(of job: Job<Subscriber>) {
        guard let saver = job.caching?.saver else { return }
        errands.append(.endSaving(saver, isComplete: true))
        job.caching?.saver = nil
    }

    /// The transfer has failed. A stored response may be better than none.
    mutating func servesStale(_ job: Job<Subscriber>, at now: Int64, _ effects: inout [Effect]) -> Bool {
        guard let caching = job.caching, caching.outcome == nil,
            let head = caching.exchange?.headInstead()
        else { return false }
        if observes { effects.append(.notice(notice(.stop, job, at: now))) }
        job.end = nil
        forgetBody(of: job, &effects)
        serveStored(job, head, at: now, &effects)
        return true
    }

    /// What has come of a body is not of the one that is handed out now.
    mutating func forgetBody(of job: Job<Subscriber>, _ effects: inout [Effect]) {
        dropAhead(of: job, &effects)
        job.ahead = nil
        job.received = 0
        var next = job.handlers.firstPlace
        while let place = next {
            next = job.handlers.place(after: place)
            job.handlers.setTold((0, .min), at: place)
        }
    }

    /// It is off the network.
    private mutating func serveStored(
        _ job: Job<Subscriber>, _ head: ResponseHead, at now: Int64, _ effects: inout [Effect]
    ) {
        guard let caching = job.caching, let stored = caching.exchange?.storedBody else { return }
        // What was decoded ahead is of another body.
        dropAhead(of: job, &effects)
        job.ahead = nil
        job.stage = .asking
        caching.origin = .httpStale
        caching.extended = caching.exchange?.extended
        job.finished = now
        if serve(head, of: job, at: now, &effects) { arrived(job, stored, at: now, &effects) }
    }
}

// MARK: - The end

extension DownloadTable {
    /// The job is gone: what has been decided about its response is done.
    mutating func leaveCaches(_ job: Job<Subscriber>) {
        guard let caching = job.caching else { return }
        // What is served in place of a body that broke off does not complete it.
        let isComplete = job.body != nil && caching.origin == .network
        if let saver = caching.saver { errands.append(.endSaving(saver, isComplete: isComplete)) }
        if let exchange = caching.exchange { errands.append(.settle(exchange, caching.outcome ?? .nothing)) }
        caching.lastSaver = caching.saver
        caching.saver = nil
        caching.exchange = nil
        caching.turn = nil
    }

    /// Pixels of what a cache had on disk, and what they were made of.
    mutating func keep(_ pictures: [FormedPicture], of job: Job<Subscriber>) {
        var whole: Image?
        for picture in pictures {
            guard case .success(let image) = picture.image else { continue }
            if let selection = job.caching?.selection { image.keep(for: selection) }
            if !image.isPartial, whole == nil || !image.isScaled { whole = image }
            if let keeper = job.caching?.keeper { errands.append(.keep(keeper, image)) }
        }
        if whole != nil { keepOriginal(of: job, for: job.handlers, image: whole) }
        if whole != nil || pictures.isEmpty { return }
        guard let caching = job.caching else { return }
        switch pictures.first?.image {
        case .failure(let error)?: isNoPicture(job, DownloadError(error))
        case .success?, nil: if case .store? = caching.outcome { caching.outcome = .nothing }
        }
    }

    /// The body is a picture, or nobody wants to know: who keeps originals has it, once each.
    mutating func keepOriginal(of job: Job<Subscriber>, for handlers: some Sequence<Handler>, image: Image? = nil) {
        guard let body = job.body, !job.isEndUnproven else { return }
        for handler in handlers {
            guard let keeper = handler.keeper, !job.kept.contains(where: { $0.isSame(as: keeper) }) else { continue }
            // What two loads of different levels want on one disk is written once.
            let isServed = keeper.isServed(by: job.caching) || job.kept.contains { $0.isOnDiskLike(keeper) }
            job.kept.append(keeper)
            guard let keeper = isServed ? keeper.forMemory : keeper else { continue }
            let original = Original(
                body: body, image: image?.isScaled == false ? image : nil, head: job.head, request: job.original,
                selection: job.caching?.selection,
                isOfApplication: job.bodyWork?.modifier != nil || job.bodyWork?.transform != nil)
            errands.append(.keepOriginal(keeper, original))
        }
    }

    /// What is damaged is not stored, whatever HTTP says of it: row Z12.
    func isNoPicture(_ job: Job<Subscriber>, _ error: DownloadError) {
        guard let caching = job.caching, case .store? = caching.outcome else { return }
        switch error.detail {
        case .imageEmpty, .imageUnknownFormat, .imageCorrupt, .imageTruncated, .imageZeroPixels,
            .imageIntegrity:
            caching.outcome = .nothing
        default: break
        }
    }
}
