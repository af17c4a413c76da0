import SDDBase
import SDDCoders
import SDDTransport

/// The part of caches in a job: they are asked before the network, they see the response, and they store the result.
extension DownloadTable {
    /// Handles the answer of a cache that was asked before the network, or before the transfer's start.
    mutating func answered(_ id: TransferID, _ finding: Finding, at now: Int64, _ effects: inout [Effect]) {
        // The job was cancelled meanwhile.
        guard let job = jobs[id.number], let caching = job.caching, job.isAsking || job.isClaiming else { return }
        let finding = caching.servesOthers ? finding.forAll : finding
        if case .network(let exchange) = finding, job.isClaiming {
            caching.exchange = exchange
            if let exchange { prepare(job, for: exchange) }
            begin(job, at: now, &effects)
            // Transfers may have been held back while the cache was being asked.
            return updatePause(job)
        }
        // Give the job's slot to other transfers.
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

    /// Uses the stored header in place of a response.
    /// - Returns: false if no handler accepts it.
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

// MARK: - Responses from the network

extension DownloadTable {
    /// - Returns: the header to continue with; nil if the response is not to be handed out.
    mutating func cacheSees(
        _ head: ResponseHead, of job: Job<Subscriber>, at now: Int64, _ effects: inout [Effect]
    ) -> ResponseHead? {
        guard let caching = job.caching, let exchange = caching.exchange else { return head }
        switch exchange.verdict(on: head) {
        case .asItIs:
            // Save the body as it arrives, in case the transfer breaks off.
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

    /// Lets the cache see the whole body of a response.
    /// - Returns: the bytes to continue with; nil if there is nothing left to do.
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
            // Report the stored response that the 304 stands for.
            job.end?.response = job.head?.response
            return exchange.ignoresCached ? endUnchanged(job, at: now, &effects) : stored
        }
        if let head = job.head {
            let outcome = exchange.outcome(of: head, body: bytes)
            // A body that may be incomplete must not be stored as complete (RFC 9111 §3.3).
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

    /// Repeats the request without any condition.
    private mutating func askAgain(_ job: Job<Subscriber>, _ caching: Job<Subscriber>.Caching, at now: Int64) {
        caching.asksAgain = false
        caching.exchange = caching.exchange?.unconditional
        job.request = job.original
        (job.head, job.end, job.finished) = (nil, nil, 0)
        wait(job, at: now)
    }

    /// Discards the saved part of a body, because the response to the request for its rest was invalid.
    mutating func forgetPart(of job: Job<Subscriber>) {
        guard let saver = job.caching?.saver else { return }
        errands.append(.endSaving(saver, isComplete: true))
        job.caching?.saver = nil
    }

    /// Serves a stored response after a failed transfer, if the cache rules allow that.
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

    /// Discards progress and previews of a body that another body replaces.
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

    /// Serves the stored response for a job that has left the network.
    private mutating func serveStored(
        _ job: Job<Subscriber>, _ head: ResponseHead, at now: Int64, _ effects: inout [Effect]
    ) {
        guard let caching = job.caching, let stored = caching.exchange?.storedBody else { return }
        // The progressive decode belongs to another body.
        dropAhead(of: job, &effects)
        job.ahead = nil
        job.stage = .asking
        caching.origin = .httpStale
        caching.extended = caching.exchange?.extended
        job.finished = now
        if serve(head, of: job, at: now, &effects) { arrived(job, stored, at: now, &effects) }
    }
}

// MARK: - Leaving the caches

extension DownloadTable {
    /// Carries out the decisions about the response once the job has left the table.
    mutating func leaveCaches(_ job: Job<Subscriber>) {
        guard let caching = job.caching else { return }
        // A stored response served in place of a broken transfer does not complete the saved part.
        let isComplete = job.body != nil && caching.origin == .network
        if let saver = caching.saver { errands.append(.endSaving(saver, isComplete: isComplete)) }
        if let exchange = caching.exchange { errands.append(.settle(exchange, caching.outcome ?? .nothing)) }
        caching.lastSaver = caching.saver
        caching.saver = nil
        caching.exchange = nil
        caching.turn = nil
    }

    /// Stores the decoded pixels and the original that they were made of, where keepers want them.
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

    /// Gives the body to each keeper of originals once, when it has proved to be an image or no caller asked for a
    /// decode.
    mutating func keepOriginal(of job: Job<Subscriber>, for handlers: some Sequence<Handler>, image: Image? = nil) {
        guard let body = job.body, !job.isEndUnproven else { return }
        for handler in handlers {
            guard let keeper = handler.keeper, !job.kept.contains(where: { $0.isSame(as: keeper) }) else { continue }
            // Two loads with different cache levels on the same disk write the original only once.
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

    /// Prevents storing a damaged image, even if HTTP allows it (row Z12).
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
