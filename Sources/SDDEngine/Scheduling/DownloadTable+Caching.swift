import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport

/// The part of caches in a job: they are asked before the network, they see the response, and they store the result.
extension DownloadTable {
    /// Handles the answer of a cache that was asked before the network, or before the transfer's start.
    mutating func answered(_ id: TransferID, _ answer: LookupResult, at now: Int64) {
        // The job was cancelled meanwhile.
        guard let job = jobs[id.number], let caching = job.caching, job.isAsking || job.isClaiming else { return }
        let answer = caching.servesOthers ? answer.forAll : answer
        if case .network(let revalidation) = answer, job.isClaiming {
            caching.revalidation = revalidation
            if let revalidation { prepare(job, for: revalidation) }
            begin(job, at: now)
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
        switch answer {
        case .found(let found): handOut(found, to: job, caching, at: now)
        case .network(let revalidation):
            caching.revalidation = revalidation
            if let revalidation { prepare(job, for: revalidation) }
            wait(job, at: now)
        case .turn(let look):
            caching.turn = look
            wait(job, at: now)
        case .busy(let look): outbox.run(.awaitOther(job.id, look))
        case .done: endAll(job, at: now)
        case .failed(let error): endAll(job, error: error, failedAt: .queue, at: now)
        }
        fill(at: now)
    }

    private func prepare(_ job: Job<Recipient>, for revalidation: Revalidation) {
        var request = job.original
        request.conditions = revalidation.question
        request.resume = revalidation.part?.point
        job.request = request
    }

    mutating func wait(_ job: Job<Recipient>, at now: Int64) {
        job.stage = .waiting(
            slots.append(.job(job.id), host: job.host, priority: job.priority, isPrompt: job.isPrompt, at: now))
    }

    private mutating func handOut(
        _ found: CacheHit, to job: Job<Recipient>, _ caching: Job<Recipient>.Caching, at now: Int64
    ) {
        caching.origin = found.origin
        caching.extended = found.extended
        caching.handsOutBytes = found.handsOutBytes
        caching.isMade = found.isMade
        caching.isOfOriginal = found.isOfOriginal
        caching.keeper = found.keeper
        caching.selection = found.selection
        job.finished = now
        if let lookup = found.response?.revalidation { outbox.run(.revalidate(revalidating(job, lookup))) }
        if let head = found.response?.head, !serve(head, of: job, at: now) { return }
        guard let image = found.image else {
            guard let body = found.body else { return endAll(job, error: .notCached, at: now) }
            return arrived(job, body, at: now)
        }
        job.body = found.body
        remove(job)
        for handler in job.handlers {
            end(handler, of: job, image: handler.wantsPixels ? image : nil, at: now)
        }
        job.handlers.removeAll()
    }

    /// Makes the request that revalidates a served response in the background, only for the cache. It accepts what its
    /// caller does, and checks that a picture has come: nothing else may replace the served one.
    private func revalidating(_ job: Job<Recipient>, _ lookup: HTTPCacheLookup) -> DownloadRequest {
        var request = DownloadRequest(transfer: job.original)
        request.priority = .veryLow
        request.wantsPixels = job.handlers.contains { $0.wantsPixels }
        request.form = DecodeOptions(isLazy: true)
        for caller in job.handlers.prefix(1) { request.acceptance = caller.acceptance }
        request.lookup = lookup
        request.maxAttempts = 1
        return request
    }

    /// Uses the stored header in place of a response.
    /// - Returns: false if no handler accepts it.
    private mutating func serve(_ head: ResponseHead, of job: Job<Recipient>, at now: Int64) -> Bool {
        job.head = head
        job.responded = now
        if job.bodyWork?.modifier == nil { judge(job, Judged(head.response), at: now) }
        if job.handlers.isEmpty { return false }
        tell(0, of: head.expectedBytes, in: job, at: now)
        return true
    }
}

// MARK: - Responses from the network

extension DownloadTable {
    /// - Returns: the header to continue with; nil if the response is not to be handed out.
    mutating func cacheSees(_ head: ResponseHead, of job: Job<Recipient>, at now: Int64) -> ResponseHead? {
        guard let caching = job.caching, let revalidation = caching.revalidation else { return head }
        switch revalidation.verdict(on: head) {
        case .asItIs:
            // An error needs no body, and mostly nobody takes it.
            if head.response.status >= 400, revalidation.isWithdrawn(by: head.response) { caching.outcome = .withdrawn }
            // Save the body as it arrives, in case the transfer breaks off.
            if revalidation.resumes { caching.saver = revalidation.saver(for: head) }
            return head
        case .stillGood(let response, let served):
            caching.outcome = head.response.isOfUnknownCaller ? .nothing : .freshened(response)
            caching.origin = .httpRevalidated
            return served
        case .stale(let served):
            stopped(job)
            send(.cancel(job.id), for: job)
            observe(.stop, job, at: now)
            serveStored(job, served, at: now)
            fill(at: now)
            return nil
        case .again:
            caching.asksAgain = true
            return nil
        }
    }

    /// Lets the cache see the whole body of a response.
    /// - Returns: the bytes to continue with; nil if there is nothing left to do.
    mutating func cacheSees(_ bytes: Bytes, of job: Job<Recipient>, at now: Int64) -> Bytes? {
        guard let caching = job.caching, let revalidation = caching.revalidation else { return bytes }
        revalidation.countResumed(job.end?.metrics.resumedBytes ?? 0)
        if caching.asksAgain {
            askAgain(job, caching, at: now)
            return nil
        }
        if caching.origin == .httpRevalidated, let stored = revalidation.storedBody {
            caching.extended = revalidation.extended
            // Report the stored response that the 304 stands for.
            job.end = job.end?.with(job.head?.response)
            return revalidation.ignoresCached ? endUnchanged(job, at: now) : stored
        }
        if let head = job.head {
            let outcome = revalidation.outcome(of: head, body: bytes)
            // A body that may be incomplete must not be stored as complete (RFC 9111 §3.3).
            caching.outcome = job.isEndUnproven ? outcome.withoutBody : outcome
        }
        return revalidation.ignoresCached && revalidation.isSame(bytes) ? endUnchanged(job, at: now) : bytes
    }

    private mutating func endUnchanged(_ job: Job<Recipient>, at now: Int64) -> Bytes? {
        let isRefresh = job.caching?.revalidation?.lookup.wishes.contains(.asksServer) ?? false
        let isConfirmed = job.caching?.origin == .httpRevalidated
        endAll(
            job, error: !isRefresh ? .cachedIsRight : isConfirmed ? .confirmed : .sameBytes, failedAt: .response,
            at: now)
        return nil
    }

    /// Repeats the request without any condition.
    private mutating func askAgain(_ job: Job<Recipient>, _ caching: Job<Recipient>.Caching, at now: Int64) {
        caching.asksAgain = false
        caching.revalidation = caching.revalidation?.unconditional
        job.request = job.original
        (job.head, job.end, job.finished) = (nil, nil, 0)
        wait(job, at: now)
    }

    /// Discards the saved part of a body, because the response to the request for its rest was invalid.
    mutating func forgetPart(of job: Job<Recipient>) {
        guard let saver = job.caching?.saver else { return }
        outbox.run(.endSaving(saver, isComplete: true))
        job.caching?.saver = nil
    }

    /// Serves a stored response after a failed transfer, if the cache rules allow that.
    mutating func servesStale(_ job: Job<Recipient>, at now: Int64) -> Bool {
        guard let caching = job.caching, caching.outcome == nil,
            let head = caching.revalidation?.headInstead()
        else { return false }
        observe(.stop, job, at: now)
        job.end = nil
        forgetBody(of: job)
        serveStored(job, head, at: now)
        return true
    }

    /// Discards progress and previews of a body that another body replaces.
    mutating func forgetBody(of job: Job<Recipient>) {
        endProgressive(of: job)
        job.progressive = nil
        job.received = 0
        var next = job.handlers.firstPlace
        while let place = next {
            next = job.handlers.place(after: place)
            job.handlers.setTold((0, .min), at: place)
        }
    }

    /// Serves the stored response for a job that has left the network.
    private mutating func serveStored(_ job: Job<Recipient>, _ head: ResponseHead, at now: Int64) {
        guard let caching = job.caching, let stored = caching.revalidation?.storedBody else { return }
        // The progressive decode belongs to another body.
        endProgressive(of: job)
        job.progressive = nil
        job.stage = .asking
        caching.origin = .httpStale
        caching.extended = caching.revalidation?.extended
        job.finished = now
        if serve(head, of: job, at: now) { arrived(job, stored, at: now) }
    }
}

// MARK: - Leaving the caches

extension DownloadTable {
    /// Carries out the decisions about the response once the job has left the table.
    mutating func leaveCaches(_ job: Job<Recipient>) {
        guard let caching = job.caching else { return }
        caching.wish?.withdraw()
        // A stored response served in place of a broken transfer does not complete the saved part.
        let isComplete = job.body != nil && caching.origin == .network
        if let saver = caching.saver { outbox.run(.endSaving(saver, isComplete: isComplete)) }
        if let revalidation = caching.revalidation {
            outbox.run(.apply(revalidation, caching.outcome ?? .nothing))
        }
        caching.lastSaver = caching.saver
        caching.saver = nil
        caching.revalidation = nil
        caching.turn = nil
    }

    /// Stores the decoded pixels and the original that they were made of, where keepers want them. The pixels come
    /// first: who finds the original finds them, too, and decodes nothing.
    /// - Parameter forms: the forms of the pictures.
    mutating func keep(_ pictures: [FormedPicture], _ forms: FormIndex, of job: Job<Recipient>) {
        keepPixels(pictures, forms, of: job)
        var whole: Image?
        for picture in pictures {
            guard case .success(let image) = picture.image else { continue }
            if let selection = job.caching?.selection { image.keep(for: selection) }
            if !image.isPartial, whole == nil || !image.isScaled { whole = image }
            if let keeper = job.caching?.keeper { outbox.run(.keep(keeper, image)) }
        }
        if let whole { return job.handlers.forEach { keepOriginal(of: job, for: $0, image: whole) } }
        if pictures.isEmpty { return }
        // A picture whose transform failed has been decoded. A lenient form may have decoded a part of a damaged one.
        if pictures.contains(where: { !$0.form.isLenient && $0.image.hasFailedTransform }) {
            return job.handlers.forEach { keepOriginal(of: job, for: $0) }
        }
        guard let caching = job.caching else { return }
        switch pictures.first?.image {
        case .failure(let error)?: foundNoPicture(job, DownloadError(error))
        case .success?, nil: caching.outcome = caching.outcome?.withoutBody
        }
    }

    /// Whether the job's body is what any load of its URL would get: complete, and of a response that all accept.
    private func isForAll(_ job: Job<Recipient>) -> Bool {
        guard !job.isEndUnproven, job.original.asksForWhole else { return false }
        return job.head.map { $0.response.status != 206 && Acceptance.standard.takes(status: $0.response.status) }
            ?? true
    }

    /// Gives the images of a download to the memory levels of its loads.
    mutating func keepPixels(_ pictures: [FormedPicture], _ forms: FormIndex, of job: Job<Recipient>) {
        guard isForAll(job), job.head?.response.isOfUnknownCaller != true else { return }
        var last: PictureKeeper?
        job.handlers.forEach { handler in
            guard let keeper = handler.pixelKeeper, let position = forms.position(of: handler.form),
                case .success(let image) = pictures[position].image
            else { return }
            // Loads of the same picture mostly have the same keeper.
            if let last, last.cache === keeper.cache, last.key == keeper.key { return }
            last = keeper
            outbox.run(.keepPixels(keeper, image, job.head?.response, handler.request.transfer.headers))
        }
    }

    /// Gives the body to the handler's keeper of originals, each of which gets it once, when it has proved to be an image
    /// or no caller asked for a decode.
    mutating func keepOriginal(of job: Job<Recipient>, for handler: Handler, image: Image? = nil) {
        guard let keeper = handler.keeper, let body = job.body, isForAll(job),
            !job.kept.contains(where: { $0.isSame(as: keeper) })
        else { return }
        // Two loads with different cache levels on the same disk write the original only once.
        let isServed = keeper.isServed(by: job.caching) || job.kept.contains { $0.isOnDiskLike(keeper) }
        job.kept.append(keeper)
        guard let keeper = isServed ? keeper.forMemory : keeper else { return }
        let original = Original(
            body: body, image: image?.isScaled == false ? image : nil, head: job.head, request: job.original,
            selection: job.caching?.selection,
            isOfApplication: job.bodyWork?.modifier != nil || job.bodyWork?.transform != nil)
        stores.add(keeper.key)
        outbox.run(.keepOriginal(keeper, original))
    }

    /// Prevents storing a damaged image, even if HTTP allows it (row Z12).
    func foundNoPicture(_ job: Job<Recipient>, _ error: DownloadError) {
        guard let caching = job.caching, error.isOfBody || error.detail == .imageIntegrity else { return }
        caching.outcome = caching.outcome?.withoutBody
    }
}

extension DownloadError {
    /// Whether the body is no picture, or a damaged one.
    var isOfBody: Bool {
        switch detail {
        case .imageEmpty, .imageUnknownFormat, .imageCorrupt, .imageTruncated, .imageZeroPixels: true
        default: false
        }
    }
}

extension Result<Image, CoderError> {
    fileprivate var hasFailedTransform: Bool {
        if case .failure(let error) = self { error.kind == .transform } else { false }
    }
}
