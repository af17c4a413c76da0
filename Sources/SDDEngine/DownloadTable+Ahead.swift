import SDDBase
import SDDCoders
import SDDTransport

/// Progressive decoding: images are decoded while their bodies arrive, for callers that want previews or facts, and for
/// slow transfers, where the decoder can then finish together with the network. A stream takes one step at a time, and
/// steps come after complete bodies, for which the decoder is the only thing that callers still wait for.
extension DownloadTable {
    struct AheadRules: Sendable {
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
    mutating func considerAhead(_ job: Job<Subscriber>, at now: Int64) {
        guard job.mayReadAhead, job.isRunning, job.received > 0, job.bodyWork == nil,
            job.request.sink == nil
        else { return }
        guard job.isWatched || isWorthReadingAhead(job, at: now) else { return }
        let stream = PictureStream(
            limits: rules.decodeLimits, registry: registry, memory: room.keeper(for: job, hasRoom: true))
        let ahead = Job<Subscriber>.Ahead(stream)
        ahead.facts = job.facts
        // Previews that were shown before the memory was taken back still count as shown.
        ahead.previewed = job.ahead?.previewed
        let isShown = job.ahead?.beginsAgain ?? 0 > 0
        job.ahead = ahead
        streaming.insert(job.id.number)
        // The transport is asked only once to show a body.
        if !isShown { orders.append(.show(job.id)) }
    }

    private func isWorthReadingAhead(_ job: Job<Subscriber>, at now: Int64) -> Bool {
        let (least, elapsed) = (rules.ahead.leastBytes, now - job.responded)
        guard received.isEmpty, streams < rules.ahead.streams, elapsed >= rules.ahead.patience,
            job.handlers.wantLibraryPixels
        else { return false }
        guard let expected = job.head?.expectedBytes, expected > 0 else { return job.received >= least }
        // A remainder below a tenth of the received bytes is not worth waking a thread for.
        return expected >= least && expected - job.received > job.received / 10
    }

    /// Gives the received part of the body to the progressive decode and to the saver of partial bodies.
    mutating func bodyShown(_ job: Job<Subscriber>, _ bytes: Bytes) {
        if let saver = job.caching?.saver { errands.append(.save(saver, bytes)) }
        guard let ahead = job.ahead, ahead.stream != nil else { return }
        ahead.body = bytes
        feed(job)
    }

    /// Requests a preview of the bytes already received, for a caller that has joined late, even if no more bytes
    /// arrive.
    mutating func owePreview(_ job: Job<Subscriber>) {
        job.ahead?.owesPreview = true
        feed(job)
    }

    /// Queues the next step for a decode thread, if enough new bytes have arrived.
    private mutating func feed(_ job: Job<Subscriber>) {
        guard job.isRunning, let ahead = job.ahead, !ahead.isWorking, ahead.place == nil, ahead.stream != nil,
            let body = ahead.body, ahead.owesPreview || body.count - ahead.read >= leastStep(job, ahead)
        else { return }
        ahead.place = aheadLine.append(job.id, priority: job.priority)
        newWork += 1
    }

    /// Returns the minimum number of new bytes for a step. Each step wakes a thread, so steps must be few enough to
    /// cost little beside the decoding, but frequent enough to leave little work for the end.
    private func leastStep(_ job: Job<Subscriber>, _ ahead: Job<Subscriber>.Ahead) -> Int {
        if job.facts == nil { return 1 }
        // The first preview comes early, because it replaces an empty space on the screen.
        if job.isWatched { return ahead.previewed == nil ? 1 << 10 : max(4 << 10, ahead.read / 64) }
        return max(32 << 10, Int(clamping: job.head?.expectedBytes ?? 0) / 32, ahead.read / 32)
    }

    /// Returns the next step for a free decode thread. Called only if no complete body waits for it.
    mutating func decoderGoesAhead(at now: Int64) -> DecodeWork? {
        while let id = aheadLine.popFirst() {
            guard let job = jobs[id.number], let ahead = job.ahead, let stream = ahead.stream,
                let body = ahead.body
            else { continue }
            let owesPreview = ahead.owesPreview
            ahead.place = nil
            ahead.isWorking = true
            ahead.owesPreview = false
            ahead.showsAll = wantsPreview(job, ahead, at: now)
            ahead.read = body.count
            ahead.began = now
            let part = DecodeWork.Part(
                forms: job.formsAhead, wantsPreviews: ahead.showsAll || owesPreview,
                leastScans: owesPreview ? 0 : rules.ahead.previewScans, endsEarly: job.handlers.allEndEarly)
            return DecodeWork(id: id, bytes: body, step: .advance(stream, part))
        }
        return nil
    }

    private func wantsPreview(_ job: Job<Subscriber>, _ ahead: Job<Subscriber>.Ahead, at now: Int64) -> Bool {
        guard job.handlers.wantPreviews, let body = ahead.body else { return false }
        guard let last = ahead.previewed else { return true }
        return now - last.time >= max(rules.ahead.previewMicroseconds, last.cost * Self.previewRest)
            && body.count - last.bytes >= rules.ahead.previewBytes
    }

    /// Handles the outcome of a step.
    mutating func advanced(
        _ id: TransferID, _ outcome: Result<PictureStream.Step, CoderError>, at now: Int64, _ effects: inout [Effect]
    ) {
        // The job was cancelled meanwhile.
        guard let job = jobs[id.number], let ahead = job.ahead, ahead.isWorking else { return }
        ahead.isWorking = false
        statistics.decodeMicroseconds += now - ahead.began
        switch outcome {
        // A decode of the whole body will report the error, if there is one.
        case .failure: dropAhead(of: job, &effects)
        case .success(let step) where step.wantsWhole: dropAhead(of: job, &effects)
        case .success(let step):
            if step.lacksRoom != nil { ahead.isTakenBack = true }
            tell(step.facts, of: job, &effects)
            show(step.previews, of: job, at: now, &effects)
            if let pictures = step.pictures {
                let forms = FormIndex(pictures.lazy.map(\.form))
                if isEnough(forms, for: job) {
                    return endEarly(job, pictures, forms, step.reserved, at: now, &effects)
                }
            }
        }
        if ahead.isTakenBack { takeRoomBack(of: job, ahead, &effects) }
        if ahead.bodyWaits { return queue(job) }
        // Callers that wanted the facts have them, and no caller wants the image.
        if job.forms.isEmpty, !job.isWatched {
            dropAhead(of: job, &effects)
            ahead.isIdle = true
        }
        feed(job)
    }

    func tell(_ facts: ImageFacts?, of job: Job<Subscriber>, _ effects: inout [Effect]) {
        guard let facts, job.facts == nil, job.ahead != nil || job.handlers.wantFacts else {
            return
        }
        job.ahead = job.ahead ?? Job<Subscriber>.Ahead(nil)
        job.ahead?.facts = facts
        for handler in job.handlers where handler.wantsFacts { effects.append(.facts(handler.subscriber, facts)) }
    }

    private func show(
        _ previews: [(form: PixelForm, image: Image)], of job: Job<Subscriber>, at now: Int64,
        _ effects: inout [Effect]
    ) {
        guard !previews.isEmpty, let ahead = job.ahead else { return }
        ahead.previewed = (now, now - ahead.began, ahead.read)
        // The complete image follows immediately.
        if ahead.bodyWaits { return }
        let forms = FormIndex(previews.lazy.map(\.form))
        var next = job.handlers.firstPlace
        while let place = next, let handler = job.handlers[place] {
            next = job.handlers.place(after: place)
            guard handler.wantsPreviews, ahead.showsAll || !handler.isShown,
                let position = forms.position(of: handler.form.ofTheLibrary)
            else { continue }
            job.handlers.setShown(at: place)
            let image = previews[position].image
            effects.append(.preview(handler.subscriber, job.result(for: handler, image: image, at: now)))
        }
    }

    /// Discards the progressive decode of a job.
    mutating func dropAhead(of job: Job<Subscriber>, _ effects: inout [Effect]) {
        if let stream = takeAhead(of: job) { effects.append(.drop(stream)) }
    }

    /// Detaches and returns the job's stream, if there is one, so that the caller can continue it.
    mutating func takeAhead(of job: Job<Subscriber>) -> PictureStream? {
        guard let ahead = job.ahead, let stream = ahead.stream else { return nil }
        if let place = ahead.place { aheadLine.remove(place) }
        ahead.place = nil
        ahead.stream = nil
        streaming.remove(job.id.number)
        return stream
    }
}

// MARK: - Ending before the last byte

extension DownloadTable {
    private func isEnough(_ forms: FormIndex, for job: Job<Subscriber>) -> Bool {
        job.isRunning && job.handlers.allEndEarly
            && job.handlers.allSatisfy { forms.position(of: $0.form) != nil }
    }

    /// Ends the job and its transfer, because the image is complete and no caller wants the rest of the body.
    private mutating func endEarly(
        _ job: Job<Subscriber>, _ pictures: [FormedPicture], _ forms: FormIndex, _ reserved: (any MemoryReserved)?,
        at now: Int64, _ effects: inout [Effect]
    ) {
        stopped(job)
        orders.append(.cancel(job.id))
        if observes { effects.append(.notice(notice(.stop, job, at: now))) }
        statistics.imagesDecoded += 1
        job.finished = now
        remove(job, &effects)
        for handler in job.handlers {
            guard let position = forms.position(of: handler.form) else { continue }
            end(handler, of: job, with: pictures[position].image, reserved: reserved, at: now, &effects)
        }
        job.handlers.removeAll()
        fill(at: now, &effects)
    }
}
