import SDDBase
import SDDCoders
import SDDTransport

/// Progressive decoding: images are decoded while their bodies arrive, for callers that want previews or facts, and for
/// slow transfers, where the decoder can then finish together with the network. A stream takes one step at a time, and
/// steps come after complete bodies, for which the decoder is the only thing that callers still wait for.
extension DownloadTable {
    struct ProgressiveRules: Sendable {
        /// The maximum number of bodies decoded progressively at a time without a caller that wants previews or facts.
        var streams = 2
        /// The minimum size of such bodies and the minimum time since their response, in microseconds. A smaller or
        /// faster body is decoded sooner in one pass.
        var leastBytes: Int64 = 192 << 10
        var patience: Int64 = 25_000
        /// Minimum distances between two previews of one transfer: in microseconds, in bytes of the body, and in scans
        /// or passes.
        var previewMicroseconds: Int64 = 100_000
        var previewBytes = 0
        var previewScans = 1
    }

    /// Previews may take at most a fifth of a decoding thread's time: the pause is this multiple of the last preview's
    /// cost.
    private static var previewRest: Int64 { 4 }

    /// Starts a progressive decode if it is worthwhile. Called when more of a body has arrived or another caller has
    /// joined.
    mutating func considerProgressive(_ job: Job<Recipient>, at now: Int64) {
        guard job.mayDecodeProgressively, job.isRunning, job.received > 0, job.bodyWork == nil,
            !job.request.hasSink
        else { return }
        let isWorthIt = job.progressive?.wantsWhole != true && isWorthProgressiveDecode(job, at: now)
        guard job.isWatched || isWorthIt else { return }
        let stream = PictureStream(
            limits: rules.decodeLimits, registry: registry, memory: decoding.keeper(for: job, hasRoom: true))
        let progressive = Job<Recipient>.ProgressiveDecode(stream)
        progressive.facts = job.facts
        // Previews that were shown before the memory was taken back still count as shown.
        progressive.previewed = job.progressive?.previewed
        let isShown = job.progressive?.beginsAgain ?? 0 > 0
        job.progressive = progressive
        decoding.insertStream(of: job)
        // The transport is asked only once to show a body.
        if !isShown { send(.show(job.id), for: job) }
    }

    private func isWorthProgressiveDecode(_ job: Job<Recipient>, at now: Int64) -> Bool {
        let (least, elapsed) = (rules.progressive.leastBytes, now - job.responded)
        guard !decoding.hasBodies, decoding.streamCount < rules.progressive.streams,
            elapsed >= rules.progressive.patience, job.handlers.wantLibraryPixels
        else { return false }
        guard let expected = job.head?.expectedBytes, expected > 0 else { return job.received >= least }
        // A remainder below a tenth of the received bytes is not worth waking a thread for.
        return expected >= least && expected - job.received > job.received / 10
    }

    /// Gives the received part of the body to the progressive decode and to the saver of partial bodies.
    mutating func bodyShown(_ job: Job<Recipient>, _ bytes: Bytes) {
        // Transports of the application answer on several threads, so that a shorter body may come after a longer one.
        if job.request.appTransport != nil, bytes.count < job.received { return }
        if let saver = job.caching?.saver { outbox.run(.save(saver, bytes)) }
        guard let progressive = job.progressive, progressive.stream != nil else { return }
        progressive.body = bytes
        feed(job)
    }

    /// Requests a step with the bytes already received, for a handler that has joined late, even if no more bytes
    /// arrive.
    mutating func oweStep(_ job: Job<Recipient>, to handler: Job<Recipient>.Handler) {
        if handler.wantsPreviews { job.progressive?.owesPreview = true }
        if handler.wantsFacts, job.facts == nil { job.progressive?.owesFacts = true }
        feed(job)
    }

    /// Queues the next step for a decode thread, if enough new bytes have arrived.
    private mutating func feed(_ job: Job<Recipient>) {
        guard job.isRunning, let progressive = job.progressive, !progressive.isWorking, progressive.place == nil,
            progressive.stream != nil,
            let body = progressive.body,
            progressive.owesPreview || progressive.owesFacts
                || body.count - progressive.read >= leastStep(job, progressive)
        else { return }
        progressive.place = decoding.appendStep(of: job)
        outbox.addWork()
    }

    /// Returns the minimum number of new bytes for a step. Each step wakes a thread, so steps must be few enough to
    /// cost little beside the decoding, but frequent enough to leave little work for the end.
    private func leastStep(_ job: Job<Recipient>, _ progressive: Job<Recipient>.ProgressiveDecode) -> Int {
        if job.facts == nil { return 1 }
        // The first preview comes early, because it replaces an empty space on the screen.
        if job.isWatched { return progressive.previewed == nil ? 1 << 10 : max(4 << 10, progressive.read / 64) }
        return max(32 << 10, Int(clamping: job.head?.expectedBytes ?? 0) / 32, progressive.read / 32)
    }

    /// Returns the next step for a free decode thread. Called only if no complete body waits for it.
    mutating func decoderContinues(at now: Int64) -> DecodeWork? {
        while let id = decoding.popStep() {
            guard let job = jobs[id.number], let progressive = job.progressive, let stream = progressive.stream,
                let body = progressive.body
            else { continue }
            let owesPreview = progressive.owesPreview
            progressive.place = nil
            progressive.isWorking = true
            progressive.owesPreview = false
            progressive.owesFacts = false
            progressive.showsAll = wantsPreview(job, progressive, at: now)
            progressive.read = body.count
            progressive.began = now
            progressive.mayWait = !job.isWatched && !job.handlers.allEndEarly
            let part = DecodeWork.Part(
                forms: job.progressiveForms, wantsPreviews: progressive.showsAll || owesPreview,
                leastScans: owesPreview ? 0 : rules.progressive.previewScans, endsEarly: job.handlers.allEndEarly,
                mayWait: progressive.mayWait)
            return DecodeWork(id: id, bytes: body, step: .advance(stream, part), stop: makeStop(for: job, body))
        }
        return nil
    }

    private func wantsPreview(_ job: Job<Recipient>, _ progressive: Job<Recipient>.ProgressiveDecode, at now: Int64)
        -> Bool
    {
        guard job.handlers.wantPreviews, let body = progressive.body else { return false }
        guard let last = progressive.previewed else { return true }
        return now - last.time >= max(rules.progressive.previewMicroseconds, last.cost * Self.previewRest)
            && body.count - last.bytes >= rules.progressive.previewBytes
    }

    /// Handles the outcome of a step.
    mutating func advanced(_ id: TransferID, _ outcome: Result<PictureStream.Step, CoderError>, at now: Int64) {
        // The job was cancelled meanwhile.
        guard let job = jobs[id.number], let progressive = job.progressive, progressive.isWorking else { return }
        progressive.isWorking = false
        statistics.decodeMicroseconds += now - progressive.began
        switch outcome {
        // A decode of the whole body will report the error, if there is one.
        case .failure: leaveForTheEnd(job, progressive)
        case .success(let step) where step.wantsWhole:
            tell(step.facts, of: job)
            leaveForTheEnd(job, progressive)
        case .success(let step):
            if step.lacksRoom != nil { progressive.isTakenBack = true }
            tell(step.facts, of: job)
            show(step.previews, of: job, at: now)
            if let pictures = step.pictures {
                let forms = FormIndex(pictures.map { $0.form })
                if isEnough(forms, for: job) {
                    return endEarly(job, pictures, forms, step.reserved, at: now)
                }
            }
        }
        if progressive.isTakenBack { takeRoomBack(of: job, progressive) }
        if progressive.bodyWaits { return queue(job) }
        // Callers that wanted the facts have them, and no caller wants the image.
        if job.forms.isEmpty, !job.isWatched {
            endProgressive(of: job)
            progressive.isIdle = true
        }
        // A handler that wants more has perhaps joined during the step.
        considerProgressive(job, at: now)
        feed(job)
    }

    /// Leaves the picture to a decode of the whole body. For a handler that wants previews or facts the stream may
    /// begin again, unless there already was one.
    private mutating func leaveForTheEnd(_ job: Job<Recipient>, _ progressive: Job<Recipient>.ProgressiveDecode) {
        endProgressive(of: job)
        (progressive.isIdle, progressive.wantsWhole) = (progressive.mayWait, true)
    }

    mutating func tell(_ facts: ImageFacts?, of job: Job<Recipient>) {
        guard let facts, job.facts == nil, job.progressive != nil || job.handlers.wantFacts else {
            return
        }
        job.progressive = job.progressive ?? Job<Recipient>.ProgressiveDecode(nil)
        job.progressive?.facts = facts
        for handler in job.handlers where handler.wantsFacts { outbox.append(.facts(handler.listener, facts)) }
    }

    private mutating func show(
        _ previews: [(form: DecodeOptions, image: Image)], of job: Job<Recipient>, at now: Int64
    ) {
        guard !previews.isEmpty, let progressive = job.progressive else { return }
        progressive.previewed = (now, now - progressive.began, progressive.read)
        // The complete image follows immediately.
        if progressive.bodyWaits { return }
        let forms = FormIndex(previews.map { $0.form })
        var next = job.handlers.firstPlace
        while let place = next, let handler = job.handlers[place] {
            next = job.handlers.place(after: place)
            guard handler.wantsPreviews, progressive.showsAll || !handler.isShown,
                let position = forms.position(of: handler.form.ofTheLibrary)
            else { continue }
            job.handlers.setShown(at: place)
            let image = previews[position].image
            outbox.append(.preview(handler.listener, job.result(for: handler, image: image, at: now)))
        }
    }

    /// Discards the progressive decode of a job.
    mutating func endProgressive(of job: Job<Recipient>) {
        if let stream = takeProgressive(of: job) { outbox.release(stream) }
    }

    /// Detaches and returns the job's stream, if there is one, so that the caller can continue it.
    mutating func takeProgressive(of job: Job<Recipient>) -> PictureStream? {
        guard let progressive = job.progressive, let stream = progressive.stream else { return nil }
        decoding.removeStream(of: job, step: progressive.place)
        progressive.place = nil
        progressive.stream = nil
        return stream
    }
}

// MARK: - Ending before the last byte

extension DownloadTable {
    private func isEnough(_ forms: FormIndex, for job: Job<Recipient>) -> Bool {
        job.isRunning && job.handlers.allEndEarly
            && job.handlers.allSatisfy { forms.position(of: $0.form) != nil }
    }

    /// Ends the job and its transfer, because the image is complete and no caller wants the rest of the body.
    private mutating func endEarly(
        _ job: Job<Recipient>, _ pictures: [FormedPicture], _ forms: FormIndex, _ reserved: (any MemoryReserved)?,
        at now: Int64
    ) {
        stopped(job)
        send(.cancel(job.id), for: job)
        observe(.stop, job, at: now)
        statistics.imagesDecoded += 1
        job.finished = now
        keepPixels(pictures, forms, of: job)
        remove(job)
        for handler in job.handlers {
            guard let position = forms.position(of: handler.form) else { continue }
            end(handler, of: job, with: pictures[position].image, reserved: reserved, at: now)
        }
        job.handlers.removeAll()
        fill(at: now)
    }
}
