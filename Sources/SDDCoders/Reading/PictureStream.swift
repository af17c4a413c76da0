package import SDDBase

/// A picture in one of the forms that were asked for, or why there is none in that form.
package typealias FormedPicture = (form: PixelForm, image: Result<Image, CoderError>)

/// The picture in a body, made while the body comes: in each of several forms, decoded once for each size. Nothing is
/// decoded twice, however often it is given more. Any thread, one at a time.
package final class PictureStream: @unchecked Sendable {
    // Safety: whoever has it gives it away before another touches it: a job to a decode thread, and back.
    let limits: DecodeLimits
    private let registry: CoderRegistry
    /// Whether a coder of the host's takes it, as far as its first bytes tell; nil while they do not. None is kept:
    /// whoever lets go of a stream may hold a lock.
    private var isHosts: Bool?
    private let memory: (any MemoryKeeping)?
    /// See `isMade(_:)`.
    let isOfMadeBody: Bool
    private var format: ImageFormat?
    private var coder: (any ImageCoding)?
    /// The facts of the picture, once they are known, even if it turns out to be damaged.
    package private(set) var facts: ImageFacts?
    /// See `ImageFacts.hasScanForEachComponent(_:)`; nil until it is known.
    private var hasScans: Bool?
    private var parts: [Part] = []
    /// Where in `parts` those of a key are: among many forms none is looked for from the first part on.
    private var places: [PictureSource.Key: [Int]] = [:]
    private var reserved: (any MemoryReserved)?
    /// The memory that all readers take together.
    private var cost: DecodeCost?
    /// Bytes that transforms take, where they make pictures larger.
    private var growth = 0
    private var hasBegun = false
    private var shownFrames = 0

    /// One reader, and all forms that can be made of its pixels.
    private struct Part {
        let source: PictureSource
        var reader: any PictureReading
        var pixels: PixelBuffer?
        /// Why there will be none, though the body may be good.
        var failure: CoderError?

        var isOver: Bool { pixels != nil || failure != nil }

        mutating func read(_ bytes: Bytes, isLast: Bool) throws(CoderError) {
            do throws(CoderError) {
                pixels = try reader.read(bytes, isLast: isLast)
            } catch {
                guard error.isOfForm else { throw error }
                failure = error
            }
        }
    }

    /// The outcome of one call of `read`.
    package struct Step {
        /// The facts of the picture, once they are known.
        package var facts: ImageFacts?
        /// One for each form that has more to show than before.
        package var previews: [(form: PixelForm, image: Image)] = []
        /// One for each form, at the end.
        package var pictures: [FormedPicture]?
        /// No byte that is still to come changes them.
        package var isComplete = false
        /// Nothing comes of it before the last byte.
        package var wantsWhole = false
        /// The room they take, until they have been delivered.
        package var reserved: (any MemoryReserved)?
        /// Nothing was decoded, for there is no room; so much is needed. The stream keeps nothing of the picture.
        package var lacksRoom: Int?

        package init(pictures: [FormedPicture]? = nil) { self.pictures = pictures }

        /// At least one of the pictures is damaged or cut.
        fileprivate var isPartial: Bool { (pictures ?? []).contains { (try? $0.image.get())?.goodRows != nil } }
    }

    /// - Parameters:
    ///   - memory: asked for room before any pixel memory is taken; nil: there is enough.
    ///   - granted: room that was taken for the picture already.
    ///   - isMade: the body is of a picture that was made in the form that is wanted, and then encoded.
    package init(
        limits: DecodeLimits, registry: CoderRegistry, memory: (any MemoryKeeping)? = nil,
        granted: (any MemoryReserved)? = nil, isMade: Bool = false
    ) {
        reserved = granted
        self.limits = limits
        self.registry = registry
        self.memory = memory
        isOfMadeBody = isMade
    }

    /// Takes what has come since the last call. After an error, which is one for all forms, or the pictures, it is over.
    /// - Parameters:
    ///   - bytes: from the first one: those of the call before, and perhaps more.
    ///   - forms: what is wanted now; one that was not before costs a reader of its own, from the first byte.
    ///   - isLast: they are all there will be.
    ///   - previewScans: a preview is wanted of what there is, if that is so many scans or passes more than the last
    ///     one showed, or any rows; 0: also if it shows nothing more.
    ///   - endsEarly: the pictures are wanted as soon as they are complete, without their bytes.
    package func read(
        _ bytes: Bytes, forms: [PixelForm], isLast: Bool, previewScans: Int? = nil, endsEarly: Bool = false
    ) throws(CoderError) -> Step {
        if isLast { reserved?.settle() }
        if let step = try hostStep(bytes, forms, isLast: isLast) { return step }
        defer { hasBegun = true }
        guard isLast, hasBegun else {
            return try advance(bytes, forms, isLast: isLast, previewScans: previewScans, endsEarly: endsEarly)
        }
        do throws(CoderError) {
            let step = try advance(bytes, forms, isLast: true)
            if !step.isPartial { return step }
        } catch {}
        // How much of a damaged picture is good depends on where its pieces ended: so it is read once more, as a whole.
        removeParts()
        return try advance(bytes, forms, isLast: true)
    }

    private func removeParts() { (parts, places) = ([], [:]) }

    /// nil: no coder of the host's is asked for this body. Where that is not sure yet, more must come.
    private func hostStep(_ bytes: Bytes, _ forms: [PixelForm], isLast: Bool) throws(CoderError) -> Step? {
        guard bytes.count > 0, coder == nil else { return nil }
        if isLast {
            // All forms are of one picture, so the first hint counts.
            let hint = forms.lazy.compactMap(\.formatHint).first
            guard let coder = registry.hostCoder(for: bytes, hint: hint) else { return nil }
            return try read(bytes, forms: forms, by: coder)
        }
        if isHosts == nil { isHosts = registry.isForHost(bytes) }
        if isHosts == false { return nil }
        var step = Step()
        step.wantsWhole = isHosts == true
        return step
    }

    private func advance(
        _ bytes: Bytes, _ forms: [PixelForm], isLast: Bool, previewScans: Int? = nil, endsEarly: Bool = false
    ) throws(CoderError) -> Step {
        guard try isKnown(bytes, isLast: isLast) else { return Step() }
        var step = Step()
        step.facts = facts
        try setParts(for: forms)
        guard try isCostKnown(bytes, isLast: isLast) else { return step }
        if try !hasRoom(for: bytes, isLast: isLast) {
            removeParts()
            reserved = nil
            step.lacksRoom = cost?.total ?? 0
            return step
        }
        for index in parts.indices where !parts[index].isOver { try parts[index].read(bytes, isLast: isLast) }
        if let failure = parts.first?.failure, parts.allSatisfy({ $0.failure == failure }) { throw failure }
        step.isComplete = (isLast || !parts.isEmpty) && parts.allSatisfy { $0.isOver }
        if step.isComplete {
            if isLast { try readAgainWhatHasNoEnd(bytes) }
            if isLast || endsEarly {
                step.pictures = pictures(forms, of: isLast ? bytes : nil)
                if let cost { reserved?.decoded(keeping: cost.pixels) }
                step.reserved = reserved
            }
        } else if let previewScans {
            step.previews = try previews(forms, of: bytes, scans: previewScans)
        }
        return step
    }

    /// Finds the facts and the coder, which are known once the pixels begin.
    private func isKnown(_ bytes: Bytes, isLast: Bool) throws(CoderError) -> Bool {
        guard coder == nil else { return true }
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
        self.coder = coder
        return true
    }

    private func setParts(for forms: [PixelForm]) throws(CoderError) {
        guard let coder else { return }
        // Without facts nothing can be said of a picture but by decoding it.
        let forms = facts == nil ? forms : forms.filter { !$0.isLazy }
        keepParts(for: forms)
        let grown = growth(of: forms, facts)
        if grown != growth { (growth, cost) = (grown, nil) }
        for form in forms where part(for: form) == nil {
            let source = PictureSource(form, isAlone: forms.count == 1, facts: facts, isMade: isMade(facts))
            var part = Part(source: source, reader: try coder.makeReader(source.task(limits)))
            part.failure = failure(of: source)
            places[source.key, default: []].append(parts.count)
            parts.append(part)
            cost = nil
        }
    }

    /// Bytes by which the transforms of forms make pictures larger.
    func growth(of forms: [PixelForm], _ facts: ImageFacts?) -> Int {
        guard let facts, !isMade(facts) else { return 0 }
        var bytes = 0
        for form in forms {
            guard let transforms = form.transforms else { continue }
            let source = PictureSource(form, isAlone: false, facts: facts, isMade: false)
            guard let size = try? source.shownSize(facts, limits) else { continue }
            bytes = DecodeCost.bytes(transforms.growth(ofWidth: size.width, height: size.height), source, and: bytes)
        }
        return bytes
    }

    /// Removes the parts that serve none of the forms.
    private func keepParts(for forms: [PixelForm]) {
        var isWanted = [Bool](repeating: false, count: parts.count)
        for form in forms {
            for place in placesOfParts(for: form) { isWanted[place] = true }
        }
        if isWanted.contains(false) || parts.isEmpty { cost = nil }
        guard isWanted.contains(false) else { return }
        parts = zip(parts, isWanted).filter(\.1).map(\.0)
        places = [:]
        for (place, part) in parts.enumerated() { places[part.source.key, default: []].append(place) }
    }

    /// A key has few parts: one for each format of pixels that others are made of.
    private func placesOfParts(for form: PixelForm) -> [Int] {
        guard !parts.isEmpty else { return [] }
        let key = PictureSource.Key(form, facts: facts, isMade: isMade(facts))
        return (places[key] ?? []).filter { parts[$0].source.serves(form, facts: facts) }
    }

    /// One form may be enlarged beyond the limit; the others need not know.
    private func failure(of source: PictureSource) -> CoderError? {
        guard let facts else { return nil }
        do throws(CoderError) {
            try PixelBuffer.check(source.plan(facts.width, facts.height), maxPixels: limits.maxPixels)
            return nil
        } catch {
            return error
        }
    }

    /// The size is checked as soon as it is known. What a JPEG takes besides its pixels its first scan says: no reader takes
    /// any memory before that.
    private func isCostKnown(_ bytes: Bytes, isLast: Bool) throws(CoderError) -> Bool {
        guard let facts, cost == nil else { return true }
        try PixelBuffer.check(
            width: UInt32(clamping: facts.width), height: UInt32(clamping: facts.height), maxPixels: limits.maxPixels)
        if hasScans == nil {
            hasScans = facts.format == .jpeg ? ImageFacts.hasScanForEachComponent(bytes.pointer) : false
        }
        return hasScans != nil || isLast
    }

    /// Room for what all readers together take. Those that are at work already have theirs.
    private func hasRoom(for bytes: Bytes, isLast: Bool) throws(CoderError) -> Bool {
        guard let facts, cost == nil else { return true }
        let cost = DecodeCost(
            of: facts, hasScans: hasScans == true, parts.filter { $0.failure == nil }.map { $0.source },
            growth: growth)
        self.cost = cost
        return try takeRoom(for: cost, of: bytes, isLast: isLast)
    }

    /// Makes `reserved` what a picture needs.
    /// - Returns: false: there is no room now.
    func takeRoom(for cost: DecodeCost, of bytes: Bytes, isLast: Bool) throws(CoderError) -> Bool {
        guard try isAllowed(cost, for: bytes, isLast: isLast) else { return false }
        guard let memory, cost.total > 0 else { return true }
        if let reserved, reserved.bytes >= cost.total {
            reserved.shrink(to: cost.total)
            return true
        }
        reserved = nil
        reserved = memory.reserve(cost.total, isArriving: !isLast)
        return reserved != nil
    }

    /// - Returns: false: the part of the body that is there is not worth so much.
    private func isAllowed(_ cost: DecodeCost, for bytes: Bytes, isLast: Bool) throws(CoderError) -> Bool {
        guard limits.maxBytes <= 0 || cost.total <= limits.maxBytes else {
            throw CoderError(.tooMuchMemory, "about \(cost.total) bytes")
        }
        if limits.isPlausible(cost.total, of: bytes.count) { return true }
        guard isLast else { return false }
        throw CoderError(.tooMuchForBody, "about \(cost.total) bytes for a body of \(bytes.count)")
    }

    /// It has taken room. Not while a step is under way.
    package var holdsRoom: Bool { reserved != nil }

    /// The room of pictures that a coder of the host's has made.
    func roomOfMade(_ cost: DecodeCost) -> (any MemoryReserved)? {
        reserved?.decoded(keeping: cost.pixels)
        return reserved
    }

    /// A picture that was complete before its last byte may turn out to have been cut: then all of it is read again.
    private func readAgainWhatHasNoEnd(_ bytes: Bytes) throws(CoderError) {
        guard let coder else { return }
        for index in parts.indices where parts[index].pixels != nil && !parts[index].reader.isEnded(by: bytes) {
            parts[index].reader = try coder.makeReader(parts[index].source.task(limits))
            parts[index].pixels = nil
            try parts[index].read(bytes, isLast: true)
        }
    }

    private var orientation: Int { facts?.orientation ?? 1 }

    private func place(for form: PixelForm) -> Int? { placesOfParts(for: form).first }

    private func part(for form: PixelForm) -> Part? { place(for: form).map { parts[$0] } }
}

// MARK: - Pictures

extension PictureStream {
    private func pictures(_ forms: [PixelForm], of bytes: Bytes?) -> [FormedPicture] {
        let frames = bytes.flatMap { coder?.frames(of: $0, limits: limits, isWhole: true) }
        let clock = DecodeClock(limits, byteCount: bytes?.count ?? 0)
        let pictures: [FormedPicture] = forms.compactMap { form in
            if form.isLazy, let facts, let bytes {
                return (form, lazyPicture(form, facts, bytes, frames, clock))
            }
            guard let part = part(for: form) else { return nil }
            if let failure = part.failure { return (form, .failure(failure)) }
            return part.pixels.map { pixels in
                let made = Result { () throws(CoderError) in
                    let animation = try Animation(frames, form: form, orientation: orientation, limits: limits, clock)
                    return try image(
                        form, of: pixels, goodRows: part.reader.goodRows, bytes: bytes, animation: animation)
                }
                return (form, made)
            }
        }
        reserved?.shrink(to: pictures.reduce(0) { $0 + ((try? $1.image.get())?.ready?.byteCount ?? 0) })
        return pictures
    }

    private func lazyPicture(
        _ form: PixelForm, _ facts: ImageFacts, _ bytes: Bytes, _ frames: (any FrameSource)?, _ clock: DecodeClock
    ) -> Result<Image, CoderError> {
        Result { () throws(CoderError) in
            var eager = form
            eager.isLazy = false
            let size = try PictureSource(form, isAlone: true, facts: facts, isMade: isMade(facts)).shownSize(
                facts, limits)
            return Image(
                lazy: { [limits, registry, eager, isOfMadeBody] in
                    Result { () throws(CoderError) in
                        let stream = PictureStream(limits: limits, registry: registry, isMade: isOfMadeBody)
                        let made = try stream.read(bytes, forms: [eager], isLast: true).pictures?.first
                        guard let made else { throw CoderError(.unsupported) }
                        return try made.image.get().decoded()
                    }
                }, of: bytes, width: size.width, height: size.height, format: format, facts: facts, form: form,
                animation: try Animation(frames, form: form, orientation: orientation, limits: limits, clock))
        }
    }

    private func previews(
        _ forms: [PixelForm], of bytes: Bytes, scans: Int
    ) throws(CoderError) -> [(form: PixelForm, image: Image)] {
        let frames = framesSoFar(bytes)
        // One more frame is something new, though the picture itself is what it was.
        let hasGrown = (frames?.frameCount ?? 0) > shownFrames
        shownFrames = frames?.frameCount ?? shownFrames
        var images: [(form: PixelForm, image: Image)] = []
        var shown: [[PixelForm]] = Array(repeating: [], count: parts.count)
        for form in forms {
            if let place = place(for: form) { shown[place].append(form) }
        }
        for (part, forms) in zip(parts, shown) where !part.isOver {
            guard let preview = try part.reader.preview(afterScans: hasGrown ? 0 : scans) else { continue }
            for form in forms {
                images.append((form, try previewImage(form, of: preview, frames)))
            }
        }
        return images
    }

    /// nil while there is no more than one.
    private func framesSoFar(_ bytes: Bytes) -> (any FrameSource)? {
        guard let facts, facts.frameCount > 1 else { return nil }
        return coder?.frames(of: bytes, limits: limits, isWhole: false)
    }

    private func previewImage(
        _ form: PixelForm, of preview: Preview, _ frames: (any FrameSource)?
    ) throws(CoderError) -> Image {
        var whenAskedFor = form
        if form.frames == .preload { whenAskedFor.frames = .access }
        let clock = DecodeClock(limits, byteCount: 0)
        let animation = try Animation(frames, form: whenAskedFor, orientation: orientation, limits: limits, clock)
        return try image(
            form, of: preview.pixels, goodRows: preview.goodRows, bytes: nil, isPreview: true, animation: animation)
    }

    private func image(
        _ form: PixelForm, of pixels: PixelBuffer, goodRows: Int?, bytes: Bytes?, isPreview: Bool = false,
        animation: Animation? = nil
    ) throws(CoderError) -> Image {
        // A caller's own memory is for the picture: what is in the host's hands does not change.
        let memory = isPreview ? form.memory.forPreview : form.memory
        let made = try PixelForming(pixels, to: form, in: memory, orientation: orientation).make()
        if !isPreview, let transformed = try transformed(made, form, facts, animation) {
            return Image(transformed, of: format ?? .jpeg, form: form, isPartial: goodRows != nil)
        }
        return Image(
            pixels: made, format: format ?? .jpeg, bytes: bytes, facts: facts, form: form, goodRows: goodRows,
            isPreview: isPreview, animation: animation)
    }

    /// Nothing is to be done to the picture again: it has its size, and is transformed. An animation never is: as it was
    /// left when it was stored, it is decoded like any other.
    func isMade(_ facts: ImageFacts?) -> Bool { isOfMadeBody && (facts?.frameCount ?? 1) == 1 }

    /// - Returns: nil where the picture stays what it is.
    func transformed(
        _ pixels: PixelBuffer, _ form: PixelForm, _ facts: ImageFacts?, _ animation: Animation?
    ) throws(CoderError) -> PixelBuffer? {
        guard let transforms = form.transforms, animation == nil, !isMade(facts) else { return nil }
        let made = try transforms.apply(to: pixels, as: form, maxPixels: limits.maxPixels)
        return made === pixels ? nil : made
    }
}

extension Image {
    /// A transformed picture has no bytes of its own, and nobody knows any more which of its rows were good.
    convenience init(_ pixels: PixelBuffer, of format: ImageFormat, form: PixelForm, isPartial: Bool) {
        self.init(pixels: pixels, format: format, bytes: nil, form: form, goodRows: isPartial ? 0 : nil)
    }
}
