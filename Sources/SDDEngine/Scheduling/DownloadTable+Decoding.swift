import SDDBase
import SDDCoders
import SDDTransport

extension DownloadTable {
    /// Returns the most urgent piece of work for a free decode thread, or `nil` if there is none.
    mutating func decoderAsks(at now: Int64) -> DecodeWork? {
        if decoding.isRoomWanted { takeRoomBack() }
        if let (job, room) = nextWithRoom() { return work(on: job, room, at: now) }
        guard let id = decoding.popFirst(), let job = jobs[id.number] else { return decoderContinues(at: now) }
        return work(on: job, nil, at: now)
    }

    /// - Parameter granted: the memory reserved for the image, if the job has waited for it.
    private mutating func work(on job: Job<Recipient>, _ granted: (any MemoryReserved)?, at now: Int64) -> DecodeWork? {
        guard let bytes = job.body else { return nil }
        job.stage = .working
        job.workBegan = now
        decoding.workBegan(on: job)
        updateHold()
        fill(at: now)
        if job.needsBodyWork, let work = job.bodyWork {
            return DecodeWork(id: job.id, bytes: bytes, step: .process(work, job.response ?? Response(status: 0)))
        }
        job.isWriting = true
        return DecodeWork(
            id: job.id, bytes: bytes, step: .decode(job.forms, takeProgressive(of: job)),
            isMade: job.caching?.isMade ?? false, memory: decoding.keeper(for: job, hasRoom: granted != nil),
            room: granted, stop: makeStop(for: job, bytes), search: job.search)
    }

    /// Returns what ends the step of a job that is about to begin, when the last handler has left.
    func makeStop(for job: Job<Recipient>, _ bytes: Bytes) -> DecodeStop? {
        job.decodeStop = registry.mayIsolate(bytes) ? DecodeStop() : nil
        return job.decodeStop
    }

    /// Handles the outcome of the application's processing of a body.
    mutating func processed(_ id: TransferID, _ outcome: BodyWork.Outcome, at now: Int64) {
        // The job was cancelled meanwhile.
        guard let job = jobs[id.number], case .working = job.stage else { return }
        job.needsBodyWork = false
        switch outcome {
        case .refused: endAll(job, error: .responseRefused, failedAt: .decode, at: now)
        case .failed(let error): endAll(job, error: error, failedAt: .decode, at: now)
        case .unexpected:
            foundNoPicture(job, .unexpectedBody)
            endAll(job, error: .unexpectedBody, failedAt: .decode, at: now)
        case .nothing(let judged):
            guard judgeLate(job, judged, at: now) else { break }
            endAll(job, error: .transformFailed, failedAt: .decode, at: now)
        case .done(let judged, let bytes):
            guard judgeLate(job, judged, at: now) else { break }
            job.body = bytes
            handOut(job, at: now)
        }
        fill(at: now)
    }

    /// Judges the response after a modifier has changed it, and ends the handlers that do not accept it.
    /// - Returns: false if another transfer follows.
    private mutating func judgeLate(_ job: Job<Recipient>, _ judged: Judged, at now: Int64) -> Bool {
        job.judged = judged
        if triesAgain(job, refusing: judged, at: now) { return false }
        let handlers = job.handlers
        job.handlers.removeAll { judged.refusal(by: $0.acceptance) != nil }
        for handler in handlers {
            guard let error = judged.refusal(by: handler.acceptance) else { continue }
            end(handler, of: job, error: error, failedAt: .response, at: now)
        }
        return true
    }

    /// Takes a job back from a decode thread, and tells its facts.
    /// - Returns: nil if the job was cancelled meanwhile; the pixels are dropped.
    private mutating func workEnded(on id: TransferID, _ facts: ImageFacts?) -> Job<Recipient>? {
        decoding.release(id.number)?.forEach { outbox.append($0) }
        jobs[id.number]?.isWriting = false
        guard let job = jobs[id.number], case .working = job.stage else { return nil }
        tell(facts, of: job)
        return job
    }

    mutating func decoded(_ id: TransferID, _ outcome: Decoded, _ facts: ImageFacts?, at now: Int64) {
        Trace.step("end the request, and decide what is stored", .downloader)
        guard let job = workEnded(on: id, facts) else { return }
        statistics.decodeMicroseconds += now - job.workBegan
        endWhoWantBytes(job, at: now)
        switch outcome {
        case .success(let step) where step.lacksRoom != nil:
            job.roomNeeded = step.lacksRoom ?? 0
            lineUp(job)
        case .success(let step) where asksServerInstead(job, of: step.pictures ?? []): break
        case .success(let step):
            let isDecoded = (step.pictures ?? []).contains { if case .success = $0.image { true } else { false } }
            statistics.imagesDecoded += isDecoded ? 1 : 0
            handOut(step, of: job, at: now)
        case .failure(let error):
            let error = DownloadError(error)
            if asksServerInstead(job, after: error) { break }
            foundNoPicture(job, error)
            endAll(job, error: error, failedAt: .decode, at: now)
        }
        fill(at: now)
    }

    private mutating func asksServerInstead(_ job: Job<Recipient>, of pictures: [FormedPicture]) -> Bool {
        for picture in pictures { if case .success = picture.image { return false } }
        guard case .failure(let error)? = pictures.first?.image else { return false }
        return asksServerInstead(job, after: DownloadError(error))
    }

    /// Handles an image that memory had when the decode was about to begin.
    mutating func foundInMemory(_ id: TransferID, _ form: DecodeOptions, _ image: Image, at now: Int64) {
        guard let job = workEnded(on: id, image.facts) else { return }
        endWhoWantBytes(job, at: now)
        handOut(PictureStream.Step(pictures: [(form, .success(image))]), of: job, at: now)
        fill(at: now)
    }

    /// Ends the handlers that wanted no pixels. They waited only for the facts, so the outcome of the decode does not
    /// matter.
    private mutating func endWhoWantBytes(_ job: Job<Recipient>, at now: Int64) {
        job.handlers.forEach { if !$0.wantsPixels { end($0, of: job, at: now) } }
        job.handlers.removeAll { !$0.wantsPixels }
    }

    /// Gives the images to their handlers. A handler that joined during the decode and wants another form waits for a
    /// further decode.
    private mutating func handOut(_ step: PictureStream.Step, of job: Job<Recipient>, at now: Int64) {
        let pictures = step.pictures ?? []
        let forms = FormIndex(pictures.map { $0.form })
        keep(pictures, forms, of: job)
        let isServed = { (handler: Handler) in forms.position(of: handler.form) != nil }
        if job.handlers.allSatisfy(isServed) { remove(job) }
        job.handlers.forEach { handler in
            guard let position = forms.position(of: handler.form) else { return }
            end(handler, of: job, with: pictures[position].image, reserved: step.reserved, at: now)
        }
        job.handlers.removeAll(where: isServed)
        if !job.handlers.isEmpty { queue(job) }
    }

    mutating func end(
        _ handler: Handler, of job: Job<Recipient>, with picture: Result<Image, CoderError>,
        reserved: (any MemoryReserved)?, at now: Int64
    ) {
        switch picture {
        case .success(let image): end(handler, of: job, image: image, reserved: reserved, at: now)
        case .failure(let error):
            end(handler, of: job, error: DownloadError(error), failedAt: .decode, at: now)
        }
    }
}
