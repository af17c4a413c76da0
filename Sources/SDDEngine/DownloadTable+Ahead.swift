import SDDBase
import SDDCoders
import SDDTransport

/// Pictures made while their bodies come: for who wants to see them before they are complete, and where the network
/// takes so long that the decoder can be done when it is. A stream takes one step at a time, behind the bodies that are
/// complete, which nothing but a decoder keeps from their callers.
extension DownloadTable {
    struct AheadRules: Sendable {
        /// Bodies that nobody watches, decoded ahead at a time.
        var streams = 2
        /// Those are at least so large, and come for so long already, microseconds: less is decoded faster at once.
        var leastBytes: Int64 = 192 << 10
        var patience: Int64 = 25_000
        /// Between two previews of one transfer: microseconds, bytes of the body, and scans or passes.
        var previewMicroseconds: Int64 = 100_000
        var previewBytes = 0
        var previewScans = 1
    }

    /// Making a preview must not keep a thread from decoding: at most a fifth of its time.
    private static var previewRest: Int64 { 4 }

    /// More of a body has come, or somebody more waits for it.
    mutating func considerAhead(_ job: Job<Subscriber>, at now: Int64) {
        guard job.mayReadAhead, job.isRunning, job.received > 0, job.bodyWork == nil,
            job.request.sink == nil
        else { return }
        guard job.isWatched || isWorthReadingAhead(job, at: now) else { return }
        let stream = PictureStream(
            limits: rules.decodeLimits, registry: registry, memory: room.keeper(for: job, hasRoom: true))
        let ahead = Job<Subscriber>.Ahead(stream)
        ahead.facts = job.facts
        // After room was taken back: what has been shown has been shown.
        ahead.previewed = job.ahead?.previewed
        let isShown = job.ahead?.beginsAgain ?? 0 > 0
        job.ahead = ahead
        streaming.insert(job.id.number)
        // The transport goes on showing what it has been asked for once.
        if !isShown { orders.append(.show(job.id)) }
    }

    private func isWorthReadingAhead(_ job: Job<Subscriber>, at now: Int64) -> Bool {
        let (least, elapsed) = (rules.ahead.leastBytes, now - job.responded)
        guard received.isEmpty, streams < rules.ahead.streams, elapsed >= rules.ahead.patience,
            job.handlers.wantLibraryPixels
        else { return false }
        guard let expected = job.head?.expectedBytes, expected > 0 else { return job.received >= least }
        // A tenth of what has come is not worth a thread's waking up for.
        return expected >= least && expected - job.received > job.received / 10
    }

    /// What there is of the body.
    mutating func bodyShown(_ job: Job<Subscriber>, _ bytes: Bytes) {
        if let saver = job.caching?.saver { errands.append(.save(saver, bytes)) }
        guard let ahead = job.ahead, ahead.stream != nil else { return }
        ahead.body = bytes
        feed(job)
    }

    /// Somebody more wants previews: also where nothing more of the body comes for long.
    mutating func owePreview(_ job: Job<Subscriber>) {
        job.ahead?.owesPreview = true
        feed(job)
    }

    /// In line for a decode thread, if there is enough that is new.
    private mutating func feed(_ job: Job<Subscriber>) {
        guard job.isRunning, let ahead = job.ahead, !ahead.isWorking, ahead.place == nil, ahead.stream != nil,
            let body = ahead.body, ahead.owesPreview || body.count - ahead.read >= leastStep(job, ahead)
        else { return }
        ahead.place = aheadLine.append(job.id, priority: job.priority)
        newWork += 1
    }

    /// Each step wakes a thread: so few that they cost nothing beside the decoding, and so many that little is left to
    /// be done at the end.
    private func leastStep(_ job: Job<Subscriber>, _ ahead: Job<Subscriber>.Ahead) -> Int {
        if job.facts == nil { return 1 }
        // The first preview is what somebody looks at an empty place for.
        if job.isWatched { return ahead.previewed == nil ? 1 << 10 : max(4 << 10, ahead.read / 64) }
        return max(32 << 10, Int(clamping: job.head?.expectedBytes ?? 0) / 32, ahead.read / 32)
    }

    /// A decode thread is free, and no complete body waits for it.
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

    /// A step is done.
    mutating func advanced(
        _ id: TransferID, _ outcome: Result<PictureStream.Step, CoderError>, at now: Int64, _ effects: inout [Effect]
    ) {
        // Nobody waits for it any more.
        guard let job = jobs[id.number], let ahead = job.ahead, ahead.isWorking else { return }
        ahead.isWorking = false
        statistics.decodeMicroseconds += now - ahead.began
        switch outcome {
        // The whole body will tell what is wrong, if anything is.
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
        // Who wanted to know what the picture is knows it, and nobody wants the picture.
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
        // The end is at hand.
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

    /// No more is made of what has come.
    mutating func dropAhead(of job: Job<Subscriber>, _ effects: inout [Effect]) {
        if let stream = takeAhead(of: job) { effects.append(.drop(stream)) }
    }

    /// The stream, if there is one, to go on with by itself.
    mutating func takeAhead(of job: Job<Subscriber>) -> PictureStream? {
        guard let ahead = job.ahead, let stream = ahead.stream else { return nil }
        if let place = ahead.place { aheadLine.remove(place) }
        ahead.place = nil
        ahead.stream = nil
        streaming.remove(job.id.number)
        return stream
    }
}

// MARK: - Before the last byte

extension DownloadTable {
    private func isEnough(_ forms: FormIndex, for job: Job<Subscriber>) -> Bool {
        job.isRunning && job.handlers.allEndEarly
            && job.handlers.allSatisfy { forms.position(of: $0.form) != nil }
    }

    /// The picture is complete, and nobody wants the rest of the body.
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
