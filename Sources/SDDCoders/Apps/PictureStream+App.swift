internal import SDDBase

extension PictureStream {
    /// Decodes the first frame of a whole body with an application's coder, in each of the forms. Memory that the coder
    /// itself takes is not counted; the pixels made from the frame are.
    func read(_ bytes: Bytes, forms: [DecodeOptions], by coder: any AppCoder) throws(CoderError) -> Step {
        let task = AppDecodeTask(for: forms, limits: limits, isMade: isOfMadeBody)
        let picture = try AppPicture.open(bytes, with: coder, task)
        guard let frame = try picture.next(), let facts = frame.facts(coder.format) else {
            throw CoderError(.coder, "coder \(coder.name): no frame")
        }
        var step = Step()
        step.facts = facts
        var made: [(source: PictureSource, pixels: Result<PixelBuffer, CoderError>?)] = []
        for form in forms where !made.contains(where: { $0.source.serves(form, facts: facts) }) {
            made.append((PictureSource(form, isAlone: false, facts: facts, isMade: isMade(facts)), nil))
        }
        let cost = DecodeCost(of: facts, made.map { $0.source }, growth: growth(of: forms, facts))
        guard try takeRoom(for: cost, of: bytes, isLast: true) else {
            step.lacksRoom = cost.total
            return step
        }
        for index in made.indices {
            let plan = made[index].source.plan(frame.pictureWidth, frame.pictureHeight)
            made[index].pixels = Result { () throws(CoderError) in
                try PixelBuffer.check(plan, maxPixels: limits.maxPixels)
                return try frame.pixels(plan)
            }
        }
        let frames =
            frame.frameCount > 1 ? AppFrames(bytes, by: coder, first: frame, maxPixels: limits.maxPixels) : nil
        let clock = DecodeClock(limits, byteCount: bytes.count)
        step.isComplete = true
        step.pictures = forms.compactMap { form in
            let stored = made.first { $0.source.serves(form, facts: facts) }?.pixels
            guard let stored else { return nil }
            let image = Result { () throws(CoderError) in
                let pixels = try PixelConverter(stored.get(), to: form, orientation: frame.orientation).make()
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
}
