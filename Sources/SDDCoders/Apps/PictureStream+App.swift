internal import SDDBase

// Bodies that coders of the application decode, and installed coders.

extension PictureStream {
    /// Returns the step of the application's or installed coder that takes a body which is still arriving, or an empty
    /// step while it is undecided which coder that is. Returns `nil` if there is none.
    func appStep(
        _ bytes: Bytes, _ forms: [DecodeOptions], _ previewScans: Int?, mayWait: Bool
    ) throws(CoderError) -> Step? {
        if isApps == nil { isApps = isForCoder(bytes) }
        guard isApps != false else { return nil }
        var step = Step()
        guard isApps == true else { return step }
        if !mayWait, let coder = try registry.appCoder(for: bytes, hint: nil), coder.hasPreviews {
            return try arrivingStep(bytes, forms, previewScans, coder)
        }
        step.wantsWhole = true
        return step
    }

    private func isForCoder(_ bytes: Bytes) -> Bool? {
        guard let isForApp = registry.isForApp(bytes) else { return nil }
        if isForApp { return true }
        return registry.isUndecided(bytes) ? nil : registry.isForInstalled(bytes)
    }

    /// Returns the step of the application's or installed coder that takes a whole body, or `nil` if there is none.
    func lastAppStep(_ bytes: Bytes, _ forms: [DecodeOptions]) throws(CoderError) -> Step? {
        let begun = arriving
        arriving = nil
        // All forms are of one picture, so the first hint counts.
        let hint = forms.lazy.compactMap(\.formatHint).first
        guard let coder = try registry.appCoder(for: bytes, hint: hint) else { return nil }
        let task = task(for: forms, coder, bytes)
        if let begun, begun.serves(task, of: coder) {
            do throws(CoderError) {
                try begun.picture.feed(bytes, isLast: true)
                return try pictures(of: begun.picture, bytes, forms)
            } catch {
                // Whether a damaged body gives a picture must not depend on where its pieces ended.
            }
        }
        return try pictures(of: AppPicture.open(bytes, with: coder, task), bytes, forms)
    }

    private func task(for forms: [DecodeOptions], _ coder: any AppCoder, _ bytes: Bytes) -> AppDecodeTask {
        var task = AppDecodeTask(for: forms, limits: limits, isMade: isOfMadeBody)
        (task.helpers, task.limits) = (registry.helpers, limits)
        return coder.isInstalled ? task.limited(by: limits, forBodyOf: bytes.count) : task
    }

    /// Decodes the first frame of a whole body in each of the forms. Memory that the coder itself takes is not counted;
    /// the pixels made from the frame are.
    private func pictures(of picture: AppPicture, _ bytes: Bytes, _ forms: [DecodeOptions]) throws(CoderError) -> Step {
        let coder = picture.coder
        guard let frame = try picture.next(), let facts = frame.facts(coder.format) else {
            throw CoderError(.coder, "coder \(coder.name): no frame")
        }
        // A body that arrived at once has them here first.
        self.facts = self.facts ?? facts
        var step = Step()
        step.facts = facts
        let sources = sources(of: forms, facts)
        let cost = DecodeCost(of: facts, sources, growth: growth(of: forms, facts))
        guard try takeRoom(for: cost, of: bytes, isLast: true) else {
            step.lacksRoom = cost.total
            return step
        }
        let made = sources.map { source in
            Result { () throws(CoderError) in
                let plan = source.plan(frame.pictureWidth, frame.pictureHeight)
                try PixelBuffer.check(plan, maxPixels: limits.maxPixels)
                return try frame.pixels(plan)
            }
        }
        var whole = picture.task
        whole.wantedSide = 0
        let frames = frame.frameCount > 1 ? AppFrames(bytes, by: coder, first: frame, whole) : nil
        let clock = DecodeClock(limits, byteCount: bytes.count)
        step.isComplete = true
        step.pictures = forms.compactMap { form in
            guard let index = sources.firstIndex(where: { $0.serves(form, facts: facts) }) else { return nil }
            let image = Result { () throws(CoderError) in
                let pixels = try PixelConverter(made[index].get(), to: form, orientation: frame.orientation).make()
                let animation = try Animation(
                    frames, form: form, orientation: frame.orientation, limits: limits, clock)
                if let transformed = try transformed(pixels, form, facts, animation) {
                    return Image(transformed, of: coder.format, form: form, isPartial: false)
                }
                return Image(
                    pixels: pixels, format: coder.format, bytes: bytes, facts: facts, form: form, animation: animation)
            }
            return (form, image)
        }
        step.reserved = roomOfMade(cost)
        return step
    }

    /// Returns the sources that the forms need, each once.
    private func sources(of forms: [DecodeOptions], _ facts: ImageFacts) -> [PictureSource] {
        var sources: [PictureSource] = []
        for form in forms where !sources.contains(where: { $0.serves(form, facts: facts) }) {
            sources.append(PictureSource(form, isAlone: false, facts: facts, isMade: isMade(facts)))
        }
        return sources
    }
}

// MARK: - Bodies that are still arriving

extension PictureStream {
    private func arrivingStep(
        _ bytes: Bytes, _ forms: [DecodeOptions], _ previewScans: Int?, _ coder: any AppCoder
    ) throws(CoderError) -> Step {
        let forms = forms.filter { !$0.isLazy }
        let task = task(for: forms, coder, bytes)
        let arriving: ArrivingPicture
        if let begun = self.arriving, begun.serves(task, of: coder) {
            arriving = begun
        } else {
            arriving = try ArrivingPicture(coder, task)
            self.arriving = arriving
        }
        try arriving.picture.feed(bytes, isLast: false)
        var step = Step()
        switch try arriving.picture.preview() {
        case .nothing: break
        case .wholeOnly(let frame):
            facts = facts ?? frame.facts(coder.format)
            step.wantsWhole = true
            self.arriving = nil
        case .frame(let frame, let goodRows):
            facts = facts ?? frame.facts(coder.format)
            format = coder.format
            if frame.pixels == nil { break }
            let checked = try arriving.picture.checked(frame)
            guard let previewScans, let facts = checked.facts(coder.format), !forms.isEmpty else { break }
            let rows = goodRows.map { min($0, checked.height) }
            guard rows ?? 1 > 0, arriving.shows(rows: rows, of: bytes.count) || previewScans == 0 else { break }
            try show(checked, rows: rows ?? checked.height, of: bytes, forms, facts, in: &step)
        }
        step.facts = facts
        return step
    }

    /// Adds previews of a frame to the step, if there is room for them.
    private func show(
        _ frame: CheckedFrame, rows: Int, of bytes: Bytes, _ forms: [DecodeOptions], _ facts: ImageFacts,
        in step: inout Step
    ) throws(CoderError) {
        let sources = sources(of: forms, facts)
        let cost = DecodeCost(of: facts, sources, growth: growth(of: forms, facts))
        guard try takeRoom(for: cost, of: bytes, isLast: false) else {
            arriving = nil
            step.lacksRoom = cost.total
            return
        }
        for (index, source) in sources.enumerated() {
            let plan = source.plan(frame.pictureWidth, frame.pictureHeight)
            try PixelBuffer.check(plan, maxPixels: limits.maxPixels)
            let preview = try frame.preview(plan, rows: rows)
            guard preview.goodRows > 0 else { continue }
            for form in forms where sources.firstIndex(where: { $0.serves(form, facts: facts) }) == index {
                step.previews.append((form, try previewImage(form, of: preview, nil)))
            }
        }
    }
}
