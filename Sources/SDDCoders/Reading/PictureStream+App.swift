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
        if !mayWait, let coder = try registry.appCoder(for: bytes), coder.hasPreviews {
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

    /// Returns the step of the application's or installed coder that takes a whole body, or `nil` if there is none. If
    /// none takes it by its bytes, the step is only for the forms that have the same hint as the first one.
    func lastAppStep(_ bytes: Bytes, _ forms: [DecodeOptions]) throws(CoderError) -> Step? {
        let begun = arriving
        arriving = nil
        if let coder = try registry.appCoder(for: bytes) { return try wholeStep(bytes, forms, coder, begun) }
        guard ImageFormat(sniffing: bytes) == nil, let hint = forms.first.map(\.formatHint) else { return nil }
        let alike = forms.filter { $0.formatHint == hint }
        let isForAll = alike.count == forms.count
        do throws(CoderError) {
            if let coder = hint.flatMap(registry.appCoder(of:)) { return try wholeStep(bytes, alike, coder, begun) }
            if isForAll { return nil }
            throw unknownFormat(of: bytes)
        } catch {
            if isForAll { throw error }
            return Step(pictures: alike.map { ($0, .failure(error)) })
        }
    }

    /// Returns the step of a coder. If that is over a limit for several forms together, the step is for the first one.
    private func wholeStep(
        _ bytes: Bytes, _ forms: [DecodeOptions], _ coder: any AppCoder, _ begun: ArrivingPicture?
    ) throws(CoderError) -> Step {
        do throws(CoderError) { return try stepTogether(bytes, forms, coder, begun) } catch {
            guard forms.count > 1, error.isOfLimit else { throw error }
        }
        do throws(CoderError) { return try stepTogether(bytes, [forms[0]], coder, nil) } catch {
            return Step(pictures: [(forms[0], .failure(error))])
        }
    }

    private func stepTogether(
        _ bytes: Bytes, _ forms: [DecodeOptions], _ coder: any AppCoder, _ begun: ArrivingPicture?
    ) throws(CoderError) -> Step {
        let task = task(for: forms, coder, bytes)
        if let begun, begun.serves(task, of: coder) {
            do throws(CoderError) {
                try begun.picture.feed(bytes, isLast: true)
                let step = try pictures(of: begun.picture, bytes, forms)
                if !step.isPartial { return step }
            } catch {}
            // What a damaged body gives must not depend on where its pieces ended.
        }
        return try pictures(of: AppPicture.open(bytes, with: coder, task), bytes, forms)
    }

    private func task(for forms: [DecodeOptions], _ coder: any AppCoder, _ bytes: Bytes) -> AppDecodeTask {
        var task = AppDecodeTask(for: forms, limits: limits, isMade: isOfMadeBody)
        (task.helpers, task.limits) = (registry.helpers(for: coder, limits), limits)
        return coder.isInstalled ? task.limited(by: limits, forBodyOf: bytes.count) : task
    }

    /// Decodes the first frame of a whole body in each of the forms, once there is room for all that this takes.
    private func pictures(of picture: AppPicture, _ bytes: Bytes, _ forms: [DecodeOptions]) throws(CoderError) -> Step {
        let coder = picture.coder
        try setSize(of: picture, forms)
        let (ahead, room) = try takeRoomAhead(of: picture, bytes, forms, isLast: true)
        var step = Step()
        if case .lacking(let bytes) = room {
            step.lacksRoom = bytes
            return step
        }
        guard let frame = try picture.next(), let facts = facts(of: frame, coder, for: ahead.forms) else {
            throw CoderError(.coder, "coder \(coder.name): no frame")
        }
        // Those of a body that was still arriving may lack the colours.
        self.facts = facts
        step.facts = facts
        let coderBytes = try picture.needs()?.bytes ?? frame.byteCount
        let held = try held(ahead.forms, of: bytes, isLast: true) { self.cost(of: [$0], facts, coderBytes) }
        let cost = cost(of: held.forms, facts, coderBytes)
        // Only a coder that makes no estimates, or wrong ones, may lack room now.
        guard takeRoom(for: cost, isLast: true) else {
            step.lacksRoom = cost.total
            return step
        }
        step.isComplete = true
        var made = try pictures(of: frame, picture, facts, held.forms, bytes)
        // Others may have the room as soon as it is given back.
        picture.close()
        if frame.goodRows != nil, held.forms.contains(where: { !$0.isLenient }) {
            let refusal = Result<Image, CoderError>.failure(damage(of: bytes, by: coder, picture.task))
            made = made.map { $0.form.isLenient ? $0 : ($0.form, refusal) }
        }
        step.pictures = made + held.refused + ahead.refused
        step.reserved = roomOfMade(cost)
        return step
    }

    /// Makes the pictures of a frame, also for forms that refuse damage.
    private func pictures(
        of frame: CheckedFrame, _ picture: AppPicture, _ facts: ImageFacts, _ forms: [DecodeOptions], _ bytes: Bytes
    ) throws(CoderError) -> [FormedPicture] {
        let sources = sources(of: forms, facts)
        let made = sources.map { source in
            Result { () throws(CoderError) in try pixels(of: frame, facts, for: source) }
        }
        var whole = picture.task
        whole.wantedSide = 0
        let kept = try picture.needs()?.bytes ?? 0
        let frames =
            frame.frameCount > 1 ? AppFrames(bytes, by: picture.coder, first: frame, whole, decoderBytes: kept) : nil
        let clock = DecodeClock(limits, byteCount: bytes.count)
        return forms.compactMap { form in
            guard let index = sources.firstIndex(where: { $0.serves(form, facts: facts) }) else { return nil }
            let image = Result { () throws(CoderError) in
                let made = try made[index].get()
                return try formed(made.pixels, goodRows: made.goodRows, as: form, facts, frames, clock, bytes)
            }
            return (form, image)
        }
    }

    /// Returns the error of a damaged body for forms that refuse damage: that of a decode for them alone.
    private func damage(of bytes: Bytes, by coder: any AppCoder, _ task: AppDecodeTask) -> CoderError {
        var strict = task
        strict.keepsRest = false
        do throws(CoderError) {
            if task.keepsRest, !coder.draws { _ = try AppPicture.open(bytes, with: coder, strict).next() }
        } catch {
            return error
        }
        return CoderError(.corrupt, "coder \(coder.name)")
    }

    /// Returns pixels of a frame for a source, and how many of their rows are good if that is not all of them.
    private func pixels(
        of frame: CheckedFrame, _ facts: ImageFacts, for source: PictureSource
    ) throws(CoderError) -> (pixels: PixelBuffer, goodRows: Int?) {
        let plan = source.plan(frame.pictureWidth, frame.pictureHeight)
        try PixelBuffer.check(plan, maxPixels: limits.maxPixels)
        let made = try frame.pixels(plan)
        if source.key.isConverted { try facts.colour?.converter?.convert(made.pixels) }
        return made
    }

    /// Tells a coder that draws the size that the largest of the forms needs.
    private func setSize(of picture: AppPicture, _ forms: [DecodeOptions]) throws(CoderError) {
        guard picture.coder.draws, let needs = try picture.needs(), needs.width > 0 else { return }
        var frame = AppFrame()
        (frame.width, frame.height) = (Int32(clamping: needs.width), Int32(clamping: needs.height))
        guard let facts = frame.facts(picture.coder.format) else { return }
        let plans = sources(of: forms, facts).map { $0.plan(needs.width, needs.height) }
        let side = { (own: Int, scale: Double) in
            max(1, Int(min((Double(own) * scale).rounded(), Double(Int32.max))))
        }
        try picture.resize(
            width: side(needs.width, plans.map { Double($0.width) / $0.partWidth }.max() ?? 1),
            height: side(needs.height, plans.map { Double($0.height) / $0.partHeight }.max() ?? 1))
    }

    /// Returns the picture of a form, made from the pixels of its source.
    private func formed(
        _ made: PixelBuffer, goodRows: Int?, as form: DecodeOptions, _ facts: ImageFacts, _ frames: AppFrames?,
        _ clock: DecodeClock, _ bytes: Bytes
    ) throws(CoderError) -> Image {
        let pixels = try PixelConverter(made, to: form, orientation: facts.orientation).make()
        let animation = try Animation(
            frames, form: form, facts, limits: limits, clock)?.sharing(pixels)
        if let transformed = try transformed(pixels, form, facts, animation) {
            return Image(
                transformed, of: facts.format, form: form, colour: facts.colour, isPartial: goodRows != nil)
        }
        return Image(
            pixels: pixels, format: facts.format, bytes: bytes, facts: facts, form: form, goodRows: goodRows,
            animation: animation)
    }

    private enum Ahead {
        case taken
        case lacking(Int)
        /// The bytes so far do not tell how much is needed.
        case unknown
    }

    /// Takes room for a picture before it is decoded: for its decoder, and for the pixels of each form within the limits.
    private func takeRoomAhead(
        of picture: AppPicture, _ bytes: Bytes, _ forms: [DecodeOptions], isLast: Bool
    ) throws(CoderError) -> (held: Held, room: Ahead) {
        guard let needs = try picture.needs() else {
            if isLast { throw CoderError(.truncated, "coder \(picture.coder.name)") }
            return (Held(forms: forms), .unknown)
        }
        let held = try held(forms, of: bytes, isLast: isLast) { costAhead(needs, [$0], picture.coder.format) }
        let cost = costAhead(needs, held.forms, picture.coder.format)
        // A body that has waited for room has all that it needs, which may be more than its coder had told.
        let isTaken = held.isPlausible && takeRoom(for: cost, isLast: isLast, keepsMore: true)
        return (held, isTaken ? .taken : .lacking(cost.total))
    }

    /// Returns the cost of a picture of which only the size is known: the higher one of both orientations.
    private func costAhead(_ needs: AppPicture.Needs, _ forms: [DecodeOptions], _ format: ImageFormat) -> DecodeCost {
        guard let bytes = needs.bytes else {
            return DecodeCost(coder: limits.maxBytes > 0 ? min(Self.assumedBytes, limits.maxBytes) : Self.assumedBytes)
        }
        var highest = DecodeCost(coder: bytes)
        for orientation in [1, 6] {
            var frame = AppFrame()
            (frame.width, frame.height) = (Int32(clamping: needs.width), Int32(clamping: needs.height))
            frame.orientation = Int32(orientation)
            guard let facts = frame.facts(format) else { continue }
            let cost = cost(of: forms, facts, bytes)
            if cost.total > highest.total { highest = cost }
        }
        return highest
    }

    private func cost(of forms: [DecodeOptions], _ facts: ImageFacts, _ coderBytes: Int) -> DecodeCost {
        DecodeCost(of: facts, sources(of: forms, facts), growth: growth(of: forms, facts), coder: coderBytes)
    }

    /// What a picture of a coder that makes no estimates is assumed to take.
    private static var assumedBytes: Int { 16 << 20 }

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
        let eager = forms.filter { !$0.isLazy }
        let task = task(for: eager, coder, bytes)
        let arriving: ArrivingPicture
        if let begun = self.arriving, begun.serves(task, of: coder) {
            arriving = begun
        } else {
            arriving = try ArrivingPicture(coder, task)
            self.arriving = arriving
        }
        try arriving.picture.feed(bytes, isLast: false)
        var step = Step()
        let (held, room) = try takeRoomAhead(of: arriving.picture, bytes, eager, isLast: false)
        let forms = held.forms
        switch room {
        case .taken: break
        case .unknown: return step
        case .lacking(let bytes):
            self.arriving = nil
            step.lacksRoom = bytes
            return step
        }
        switch try arriving.picture.preview() {
        case .nothing: break
        case .wholeOnly(let frame):
            facts = facts ?? frame.facts(coder.format)
            step.wantsWhole = true
            self.arriving = nil
            giveRoomBack()
        case .frame(let frame, let goodRows):
            facts = facts ?? frame.facts(coder.format)
            format = coder.format
            if frame.pixels == nil { break }
            let checked = try arriving.picture.checked(frame)
            guard let previewScans, let facts = facts(of: checked, coder, for: forms), !forms.isEmpty else { break }
            self.facts = facts
            self.facts?.isProgressive = goodRows == nil
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
        let cost = DecodeCost(
            of: facts, sources, growth: growth(of: forms, facts),
            coder: try arriving?.picture.needs()?.bytes ?? frame.byteCount)
        guard takeRoom(for: cost, isLast: false, keepsMore: true) else {
            arriving = nil
            step.lacksRoom = cost.total
            return
        }
        for (index, source) in sources.enumerated() {
            let plan = source.plan(frame.pictureWidth, frame.pictureHeight)
            try PixelBuffer.check(plan, maxPixels: limits.maxPixels)
            let preview = try frame.preview(plan, rows: rows)
            guard preview.goodRows > 0 else { continue }
            if source.key.isConverted { try facts.colour?.converter?.convert(preview.pixels) }
            for form in forms where sources.firstIndex(where: { $0.serves(form, facts: facts) }) == index {
                step.previews.append((form, try previewImage(form, of: preview, nil)))
            }
        }
    }
}
