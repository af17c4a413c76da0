internal import SDDBase

extension PictureStream {
    /// The first frame of a whole body by a coder of the host's, in each of the forms. What the coder takes itself for
    /// that it answers for; what is made of it is counted.
    func read(_ bytes: Bytes, forms: [PixelForm], by coder: any HostCoder) throws(CoderError) -> Step {
        let picture = try HostPicture.open(bytes, with: coder, HostTask(for: forms, limits: limits))
        guard let frame = try picture.next(), let facts = frame.facts(coder.format) else {
            throw CoderError(.coder, "coder \(coder.name): no frame")
        }
        var step = Step()
        step.facts = facts
        step.isComplete = true
        var made: [(source: PictureSource, pixels: PixelBuffer?)] = []
        for form in forms where !made.contains(where: { $0.source.serves(form, orientation: frame.orientation) }) {
            made.append((PictureSource(form, isAlone: false, orientation: frame.orientation), nil))
        }
        step.reserved = try room(for: DecodeCost(of: facts, made.map { $0.source }), waits: true)
        for index in made.indices {
            made[index].pixels = try frame.pixels(made[index].source.plan(frame.pictureWidth, frame.pictureHeight))
        }
        let frames =
            frame.frameCount > 1 ? HostFrames(bytes, by: coder, first: frame, maxPixels: limits.maxPixels) : nil
        var pictures: [(form: PixelForm, image: Image)] = []
        for form in forms {
            let stored = made.first { $0.source.serves(form, orientation: frame.orientation) }?.pixels
            guard let stored else { continue }
            let image = Image(
                pixels: try PixelForming(stored, to: form, orientation: frame.orientation).make(),
                format: coder.format, bytes: bytes, facts: facts, form: form, frames: frames)
            pictures.append((form, image))
        }
        step.pictures = pictures
        return step
    }
}
