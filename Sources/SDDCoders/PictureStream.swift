package import SDDBase

/// The picture in a body, made while the body comes: in each of several forms, decoded once for each size. Nothing is
/// decoded twice, however often it is given more. Any thread, one at a time.
package final class PictureStream: @unchecked Sendable {
    // Safety: whoever has it gives it away before another touches it: a job to a decode thread, and back.
    private let forms: [PixelForm]
    private let limits: DecodeLimits
    private let registry: CoderRegistry
    private var format: ImageFormat?
    private var facts: ImageFacts?
    private var parts: [Part] = []

    /// What one reader does, for all forms that can be made of it.
    private struct Part {
        let source: PictureSource
        let coder: any ImageCoding
        var reader: any PictureReading
        var pixels: PixelBuffer?
    }

    /// What has come of some more bytes.
    package struct Step {
        /// Once they are known.
        package var facts: ImageFacts?
        /// One for each form that has more to show than before.
        package var previews: [(form: PixelForm, image: Image)] = []
        /// One for each form, at the end.
        package var pictures: [(form: PixelForm, image: Image)]?
        /// No byte that is still to come changes them.
        package var isComplete = false
    }

    package init(forms: [PixelForm], limits: DecodeLimits, registry: CoderRegistry) {
        self.forms = forms
        self.limits = limits
        self.registry = registry
    }

    /// Takes what has come since the last call. After an error, or the pictures, it is over.
    /// - Parameters:
    ///   - bytes: from the first one: those of the call before, and perhaps more.
    ///   - isLast: they are all there will be.
    ///   - wantsPreviews: if there is anything new to be seen.
    ///   - endsEarly: the pictures are wanted as soon as they are complete, without their bytes.
    package func read(
        _ bytes: Bytes, isLast: Bool, wantsPreviews: Bool = false, endsEarly: Bool = false
    ) throws(CoderError) -> Step {
        guard try hasBegun(bytes, isLast: isLast) else { return Step() }
        var step = Step(facts: facts)
        for index in parts.indices where parts[index].pixels == nil {
            parts[index].pixels = try parts[index].reader.read(bytes, isLast: isLast)
        }
        step.isComplete = parts.allSatisfy { $0.pixels != nil }
        if step.isComplete {
            if isLast { try readAgainWhatHasNoEnd(bytes) }
            if isLast || endsEarly { step.pictures = try pictures(of: isLast ? bytes : nil) }
        } else if wantsPreviews {
            step.previews = try previews()
        }
        return step
    }

    /// Where the pixels begin, it is known what they are to become.
    private func hasBegun(_ bytes: Bytes, isLast: Bool) throws(CoderError) -> Bool {
        guard parts.isEmpty else { return true }
        guard bytes.count > 0 else {
            if isLast { throw CoderError(.empty) }
            return false
        }
        do throws(ImageFacts.Failure) {
            facts = try ImageFacts(of: bytes.pointer)
        } catch .incomplete where !isLast {
            return false
        } catch {
            // The reader tells best what is wrong.
        }
        guard let format = ImageFormat(sniffing: bytes), let coder = registry.coder(for: format) else {
            throw CoderError(.unknownFormat)
        }
        self.format = format
        for form in forms {
            let source = PictureSource(form, among: forms, orientation: facts?.orientation ?? 1)
            if parts.contains(where: { $0.source == source }) { continue }
            parts.append(Part(source: source, coder: coder, reader: try coder.makeReader(source.task(limits))))
        }
        return true
    }

    /// What was complete before its last byte may turn out to have been cut: then all of it is looked at.
    private func readAgainWhatHasNoEnd(_ bytes: Bytes) throws(CoderError) {
        for index in parts.indices where !parts[index].reader.isEnded(by: bytes) {
            parts[index].reader = try parts[index].coder.makeReader(parts[index].source.task(limits))
            parts[index].pixels = try parts[index].reader.read(bytes, isLast: true)
        }
    }

    private func pictures(of bytes: Bytes?) throws(CoderError) -> [(form: PixelForm, image: Image)] {
        var pictures: [(form: PixelForm, image: Image)] = []
        for form in forms {
            guard let part = part(of: form), let pixels = part.pixels else { continue }
            pictures.append((form, try image(form, of: pixels, goodRows: part.reader.goodRows, bytes: bytes)))
        }
        return pictures
    }

    private func previews() throws(CoderError) -> [(form: PixelForm, image: Image)] {
        var images: [(form: PixelForm, image: Image)] = []
        for part in parts where part.pixels == nil {
            guard let preview = try part.reader.preview() else { continue }
            for form in forms where self.part(of: form)?.source == part.source {
                images.append(
                    (form, try image(form, of: preview.pixels, goodRows: preview.goodRows, bytes: nil, isPreview: true))
                )
            }
        }
        return images
    }

    private func part(of form: PixelForm) -> Part? {
        let source = PictureSource(form, among: forms, orientation: facts?.orientation ?? 1)
        return parts.first { $0.source == source }
    }

    private func image(
        _ form: PixelForm, of pixels: PixelBuffer, goodRows: Int?, bytes: Bytes?, isPreview: Bool = false
    ) throws(CoderError) -> Image {
        let made = try PixelForming(pixels, to: form, orientation: facts?.orientation ?? 1).make()
        return Image(
            pixels: made, format: format ?? .jpeg, bytes: bytes, facts: facts, form: form, goodRows: goodRows,
            isPreview: isPreview)
    }
}

/// What a reader itself is to do for a form. Several may have one. A value.
struct PictureSource: Equatable {
    let size: SizeRule
    /// A size is of the picture as it is shown: with its sides exchanged, if it is turned by a quarter.
    let isTransposed: Bool
    let wanted: PixelFormat

    init(_ form: PixelForm, among forms: [PixelForm], orientation: Int) {
        let orientation = form.isUpright ? orientation : 1
        size = form.size
        isTransposed = orientation > 4 && size != .none
        // Directly what is wanted, if nobody wants anything else.
        wanted = forms.count == 1 && orientation == 1 ? form.format : .rgba8
    }

    func task(_ limits: DecodeLimits) -> DecodeTask {
        DecodeTask(wanted: wanted, limits: limits) { self.plan($0, $1) }
    }

    private func plan(_ width: Int, _ height: Int) -> SizePlan {
        isTransposed
            ? size.plan(width: height, height: width).transposed : size.plan(width: width, height: height)
    }
}
