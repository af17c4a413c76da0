package import SDDBase

internal import CJPEG

/// A picture in one of the requested forms, or the reason why there is none in that form.
package typealias FormedPicture = (form: DecodeOptions, image: Result<Image, CoderError>)

/// Decodes the picture in a body while the body arrives, in each of several forms, once for each size. Bytes that have
/// been decoded are not decoded again when more arrive. Callable from any thread, by one thread at a time.
package final class PictureStream: @unchecked Sendable {
    // Safety: one thread at a time owns the stream and hands it on: a job to a decode thread, and back.
    let limits: DecodeLimits
    let registry: CoderRegistry
    /// Whether a coder of the application, or an installed one, takes the body, judging by its first bytes; `nil` until
    /// they are enough to tell.
    var isApps: Bool?
    /// The picture of an application's or installed coder while the body arrives.
    var arriving: ArrivingPicture?
    let memory: (any MemoryKeeping)?
    /// See `isMade(_:)`.
    let isOfMadeBody: Bool
    var format: ImageFormat?
    private(set) var coder: (any ImageCoding)?
    /// The facts of the picture, once they are known, even if it turns out to be damaged.
    package internal(set) var facts: ImageFacts?
    /// See `ImageFacts.hasScanForEachComponent(_:)`; `nil` until it is known.
    var hasScans: Bool?
    /// Whether `facts` have the colours.
    var isColourRead = false
    /// What the installed coder of profiles made of the colours that the picture states; `nil` before it is asked.
    var answered: (question: PictureColour, colour: PictureColour)?
    /// Whether the whole body is a progressive JPEG with all its scans; `nil` until that has been looked at.
    private var isRegular: Bool?
    private var parts: [PicturePart] = []
    /// Indices in `parts` by key, so that a lookup among many forms is not linear.
    private var places: [PictureSource.Key: [Int]] = [:]
    var reserved: (any MemoryReserved)?
    /// The memory that all readers take together.
    private var cost: DecodeCost?
    /// Bytes that transforms take if they make pictures larger.
    private var growth = 0
    private var hasBegun = false
    private var shownFrames = 0

    /// The outcome of one call of `read`.
    package struct Step {
        /// The facts of the picture, once they are known.
        package var facts: ImageFacts?
        /// Previews, for each form that has more to show than before.
        package var previews: [(form: DecodeOptions, image: Image)] = []
        /// The pictures, one for each form, at the end.
        package var pictures: [FormedPicture]?
        /// True if no later byte changes the pictures.
        package var isComplete = false
        /// True if nothing can be decoded before the last byte.
        package var wantsWhole = false
        /// The memory reserved for the pictures until they have been delivered.
        package var reserved: (any MemoryReserved)?
        /// Bytes that are needed, if nothing was decoded for lack of room. The stream then keeps nothing of the
        /// picture.
        package var lacksRoom: Int?

        package init(pictures: [FormedPicture]? = nil) { self.pictures = pictures }

        /// True if at least one of the pictures is damaged or truncated.
        var isPartial: Bool {
            (pictures ?? []).contains { picture in
                switch picture.image {
                case .success(let image): image.goodRows != nil
                case .failure(let error): error.isDamage
                }
            }
        }
    }

    /// - Parameters:
    ///   - memory: asked for room before any pixel memory is taken; `nil` means that there is always room.
    ///   - granted: memory that was reserved for the picture already.
    ///   - isMade: true if the body is of a picture that was made in the requested form and then encoded.
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

    /// Decodes the bytes that have arrived since the last call. The stream is over after an error, which applies to all
    /// forms, and when the pictures have been returned.
    /// - Parameters:
    ///   - bytes: all bytes so far, from the first one on: those of the previous call, and perhaps more.
    ///   - forms: the forms wanted now; each new one may take a reader of its own, which starts at the first byte.
    ///   - isLast: true if no more bytes will come.
    ///   - previewScans: asks for a preview if it shows so many more scans or passes than the previous one, or any more
    ///     rows; 0 asks for one even if it shows nothing more.
    ///   - endsEarly: asks for the pictures as soon as they are complete, without their bytes.
    ///   - mayWait: true if nobody needs anything before the last byte, so that the stream decides on its own whether
    ///     it begins before that.
    package func read(
        _ bytes: Bytes, forms: [DecodeOptions], isLast: Bool, previewScans: Int? = nil, endsEarly: Bool = false,
        mayWait: Bool = false
    ) throws(CoderError) -> Step {
        if isLast { reserved?.settle() }
        if bytes.count > 0, coder == nil {
            let step = try isLast ? lastAppStep(bytes, forms) : appStep(bytes, forms, previewScans, mayWait: mayWait)
            if let step { return step }
        }
        defer { hasBegun = true }
        if mayWait, !isLast, try isBetterAsAWhole(bytes, forms) {
            var step = Step()
            (step.facts, step.wantsWhole) = (facts, true)
            return step
        }
        guard isLast, hasBegun else {
            return try advance(bytes, forms, isLast: isLast, previewScans: previewScans, endsEarly: endsEarly)
        }
        do throws(CoderError) {
            let step = try advance(bytes, forms, isLast: true)
            if !step.isPartial { return step }
        } catch {}
        // In a damaged picture the number of good rows depends on where its pieces ended, so it is decoded once more,
        // as a whole.
        removeParts()
        return try advance(bytes, forms, isLast: true)
    }

    private func removeParts() { (parts, places) = ([], [:]) }

    private func advance(
        _ bytes: Bytes, _ forms: [DecodeOptions], isLast: Bool, previewScans: Int? = nil, endsEarly: Bool = false
    ) throws(CoderError) -> Step {
        guard try isKnown(bytes, isLast: isLast) else { return Step() }
        let isHeadKnown = try isHeadKnown(bytes, forms, isLast: isLast)
        var step = Step()
        step.facts = facts
        guard isHeadKnown else { return step }
        try checkSize()
        let held = try held(forms, of: bytes, isLast: isLast)
        let isForAll = held.forms.count == forms.count
        let keepsRest = forms.contains { $0.isLenient }
        let forms = held.forms
        try setParts(for: forms, of: bytes, isLast: isLast)
        let isAlone = isForAll && forms.count == 1
        if try !hasRoom(for: bytes, isPlausible: held.isPlausible, isAlone: isAlone, isLast: isLast) {
            removeParts()
            reserved = nil
            step.lacksRoom = cost?.total ?? 0
            return step
        }
        for index in parts.indices where !parts[index].isOver {
            try parts[index].read(bytes, isLast: isLast, keepsRest: keepsRest)
        }
        if let failure = parts.first?.failure, parts.allSatisfy({ $0.failure == failure }), isForAll,
            facts == nil || !forms.contains(where: \.isLazy)
        {
            throw failure
        }
        step.isComplete = (isLast || !parts.isEmpty) && parts.allSatisfy { $0.isOver }
        if step.isComplete {
            if isLast { try readAgainWhatHasNoEnd(bytes, keepsRest: keepsRest) }
            if isLast || endsEarly {
                step.pictures = pictures(forms, of: isLast ? bytes : nil) + held.refused
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
            // The reader reports the error more precisely.
        }
        guard let format = ImageFormat(sniffing: bytes), let coder = registry.coder(for: format) else {
            throw unknownFormat(of: bytes)
        }
        self.format = format
        self.coder = coder
        return true
    }

    /// Returns the error for a body that nothing decodes; it tells what is missing if the format is known.
    func unknownFormat(of bytes: Bytes) -> CoderError {
        guard let format = ImageFormat(magicNumberOf: bytes.pointer), let name = format.name else {
            return CoderError(.unknownFormat)
        }
        guard let coder = format.coderPackage else {
            return CoderError(.unknownFormat, "it is \(name), which no installed coder can decode")
        }
        let reason = registry.installed?.refusal(of: format) ?? "\(coder) has one"
        return CoderError(.unknownFormat, "no decoder for \(name) is installed: \(reason)")
    }

    /// Whether decoding the body once it is complete takes so much less memory that it is worth the wait.
    private func isBetterAsAWhole(_ bytes: Bytes, _ forms: [DecodeOptions]) throws(CoderError) -> Bool {
        guard try isKnown(bytes, isLast: false), let facts, facts.isProgressive else { return false }
        guard facts.coefficientBytes - facts.coefficientBytesAtAnEighth >= Self.enoughSaved else { return false }
        return forms.allSatisfy { PictureSource.eighths(of: facts, for: $0, isMade: isMade(facts)) == 1 }
    }

    private static var enoughSaved: Int { 16 << 20 }

    /// Whether the reader of a source leaves scans out, see `PictureSource.dropsScans`.
    private func dropsScans(_ source: PictureSource, of bytes: Bytes, isLast: Bool) -> Bool {
        guard isLast, let facts, facts.format == .jpeg, facts.isProgressive, source.eighths(of: facts) < 8 else {
            return false
        }
        let isRegular = isRegular ?? sddj_is_regular(bytes.pointer.baseAddress, bytes.count)
        self.isRegular = isRegular
        return isRegular
    }

    private func setParts(for forms: [DecodeOptions], of bytes: Bytes, isLast: Bool) throws(CoderError) {
        guard let coder else { return }
        // Without facts a lazy picture has to be decoded, too.
        let forms = facts == nil ? forms : forms.filter { !$0.isLazy }
        keepParts(for: forms)
        let grown = growth(of: forms, facts)
        if grown != growth { (growth, cost) = (grown, nil) }
        for form in forms where part(for: form) == nil {
            let source = source(form, isAlone: forms.count == 1, of: bytes, isLast: isLast)
            var part = PicturePart(
                source: source, converter: source.key.isConverted ? facts?.colour?.converter : nil,
                reader: try makeReader(source, coder))
            part.failure = failure(of: source)
            places[source.key, default: []].append(parts.count)
            parts.append(part)
            cost = nil
        }
    }

    private func source(_ form: DecodeOptions, isAlone: Bool, of bytes: Bytes, isLast: Bool) -> PictureSource {
        var source = PictureSource(form, isAlone: isAlone, facts: facts, isMade: isMade(facts))
        source.dropsScans = dropsScans(source, of: bytes, isLast: isLast)
        return source
    }

    private func makeReader(
        _ source: PictureSource, _ coder: any ImageCoding
    ) throws(CoderError) -> any PictureReading {
        let task = source.task(limits)
        return source.key.isOfFrame ? FirstFrameReader(coder, task) : try coder.makeReader(task)
    }

    /// Returns the bytes by which the transforms of the forms make pictures larger.
    func growth(of forms: [DecodeOptions], _ facts: ImageFacts?) -> Int {
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
    private func keepParts(for forms: [DecodeOptions]) {
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

    /// Returns the indices of the parts that serve a form. A key has few parts: one per pixel format that others are
    /// made from.
    @inline(never)
    private func placesOfParts(for form: DecodeOptions) -> [Int] {
        guard !parts.isEmpty else { return [] }
        let key = PictureSource.Key(form, facts: facts, isMade: isMade(facts))
        return (places[key] ?? []).filter { parts[$0].source.isEnough(for: form, facts) }
    }

    /// Returns the error of a source whose picture is enlarged beyond the limit. It does not affect the other forms.
    private func failure(of source: PictureSource) -> CoderError? {
        guard let facts else { return nil }
        do throws(CoderError) {
            try PixelBuffer.check(source.plan(facts.width, facts.height), maxPixels: limits.maxPixels)
            return nil
        } catch {
            return error
        }
    }

    private func checkSize() throws(CoderError) {
        guard cost == nil, let facts else { return }
        try PixelBuffer.check(
            width: UInt32(clamping: facts.width), height: UInt32(clamping: facts.height), maxPixels: limits.maxPixels)
    }

    /// Reserves room for all readers together. Readers at work have theirs already.
    /// - Parameter isAlone: true if there is one form, whose limits are checked here and not in `held`.
    private func hasRoom(
        for bytes: Bytes, isPlausible: Bool, isAlone: Bool, isLast: Bool
    ) throws(CoderError) -> Bool {
        guard cost == nil, let facts else { return true }
        let cost = DecodeCost(
            of: facts, hasScans: hasScans == true, parts.filter { $0.failure == nil }.map { $0.source },
            growth: growth)
        self.cost = cost
        if isAlone, try !isAllowed(cost, for: bytes, isLast: isLast) { return false }
        return isPlausible && takeRoom(for: cost, isLast: isLast)
    }

    /// Returns the forms that are to be decoded now, see `Held`.
    private func held(_ forms: [DecodeOptions], of bytes: Bytes, isLast: Bool) throws(CoderError) -> Held {
        if forms.count == 1 { return Held(forms: forms) }
        return try held(forms, of: bytes, isLast: isLast) { form in
            // A lazy picture is decoded later.
            guard let facts, !form.isLazy else { return nil }
            let source = source(form, isAlone: true, of: bytes, isLast: isLast)
            if failure(of: source) != nil { return nil }
            return DecodeCost(of: facts, hasScans: hasScans == true, [source], growth: growth(of: [form], facts))
        }
    }

    /// Decodes a picture again from the whole body if it was complete before its last byte, but the body turns out to
    /// be truncated.
    private func readAgainWhatHasNoEnd(_ bytes: Bytes, keepsRest: Bool) throws(CoderError) {
        guard let coder else { return }
        for index in parts.indices where parts[index].pixels != nil && !parts[index].reader.isEnded(by: bytes) {
            parts[index].reader = try makeReader(parts[index].source, coder)
            parts[index].pixels = nil
            try parts[index].read(bytes, isLast: true, keepsRest: keepsRest)
        }
    }

    private var orientation: Int { facts?.orientation ?? 1 }

    private func place(for form: DecodeOptions) -> Int? { placesOfParts(for: form).first }

    private func part(for form: DecodeOptions) -> PicturePart? { place(for: form).map { parts[$0] } }
}

// MARK: - Pictures

extension PictureStream {
    private func pictures(_ forms: [DecodeOptions], of bytes: Bytes?) -> [FormedPicture] {
        let frames = bytes.map { self.frames(of: $0, isWhole: true, for: forms) } ?? [:]
        let clock = DecodeClock(limits, byteCount: bytes?.count ?? 0)
        let pictures: [FormedPicture] = forms.compactMap { form in
            if form.isLazy, let facts, let bytes {
                return (form, lazyPicture(form, facts, bytes, frames[wantsDeepFrames(form)], clock))
            }
            guard let part = part(for: form) else { return nil }
            if let failure = part.failure { return (form, .failure(failure)) }
            return part.pixels.map { pixels in
                let made = Result { () throws(CoderError) in
                    let animation = try Animation(
                        frames[wantsDeepFrames(form)], form: form, facts, limits: limits, clock)
                    return try image(
                        form, of: pixels, goodRows: part.reader.goodRows, bytes: bytes, animation: animation)
                }
                return (form, made)
            }
        }
        // Others may have the readers' room as soon as it is given back.
        if bytes != nil { removeParts() }
        reserved?.shrink(to: pictures.reduce(0) { $0 + ((try? $1.image.get())?.ready?.byteCount ?? 0) })
        return pictures
    }

    @inline(never)
    private func lazyPicture(
        _ form: DecodeOptions, _ facts: ImageFacts, _ bytes: Bytes, _ frames: (any FrameSource)?, _ clock: DecodeClock
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
                        let image = try made.image.get()
                        return DecodedPixels(pixels: try image.decoded(), goodRows: image.goodRows)
                    }
                }, of: bytes, width: size.width, height: size.height, format: format, facts: facts, form: form,
                animation: try Animation(frames, form: form, facts, limits: limits, clock))
        }
    }

    private func previews(
        _ forms: [DecodeOptions], of bytes: Bytes, scans: Int
    ) throws(CoderError) -> [(form: DecodeOptions, image: Image)] {
        let frames = self.frames(of: bytes, isWhole: false, for: forms)
        // An additional frame is new content, although the picture itself has not changed.
        let frameCount = frames.values.first?.frameCount
        let hasGrown = (frameCount ?? 0) > shownFrames
        shownFrames = frameCount ?? shownFrames
        var images: [(form: DecodeOptions, image: Image)] = []
        var shown: [[DecodeOptions]] = Array(repeating: [], count: parts.count)
        for form in forms {
            if let place = place(for: form) { shown[place].append(form) }
        }
        for (part, forms) in zip(parts, shown) where !part.isOver {
            guard let made = try part.reader.preview(afterScans: hasGrown ? 0 : scans) else { continue }
            let preview = Preview(pixels: try part.converted(made.pixels, isWhole: false), goodRows: made.goodRows)
            for form in forms {
                images.append((form, try previewImage(form, of: preview, frames[wantsDeepFrames(form)])))
            }
        }
        return images
    }

    /// Returns the frames that have arrived, by whether they have 16 bits a channel, as far as forms need them; none
    /// while there is no more to show than the still picture.
    private func frames(of bytes: Bytes, isWhole: Bool, for forms: [DecodeOptions]) -> [Bool: any FrameSource] {
        guard let facts, let coder, facts.frameCount > 1 || facts.hidesStill else { return [:] }
        var frames: [Bool: any FrameSource] = [:]
        for isDeep in Set(forms.map(wantsDeepFrames)) {
            frames[isDeep] = coder.frames(of: bytes, limits: limits, isWhole: isWhole, isDeep: isDeep)
        }
        return frames
    }

    /// Whether the frames for a form have 16 bits a channel, as the picture itself has while it is made.
    private func wantsDeepFrames(_ form: DecodeOptions) -> Bool {
        PictureSource(form, isAlone: false, facts: facts, isMade: isMade(facts)).isDeep
    }

    @inline(never)
    func previewImage(
        _ form: DecodeOptions, of preview: Preview, _ frames: (any FrameSource)?
    ) throws(CoderError) -> Image {
        var whenAskedFor = form
        if form.frames == .preload { whenAskedFor.frames = .access }
        let clock = DecodeClock(limits, byteCount: 0)
        let animation = try Animation(frames, form: whenAskedFor, facts, limits: limits, clock)
        return try image(
            form, of: preview.pixels, goodRows: preview.goodRows, bytes: nil, isPreview: true, animation: animation)
    }

    // Inlined in several places, it would make the library 6 KB larger.
    @inline(never)
    private func image(
        _ form: DecodeOptions, of pixels: PixelBuffer, goodRows: Int?, bytes: Bytes?, isPreview: Bool = false,
        animation: Animation? = nil
    ) throws(CoderError) -> Image {
        // Memory lent by the application is for the final picture: once a preview is delivered, its pixels do not
        // change.
        let memory = isPreview ? form.memory.forPreview : form.memory
        let made = try PixelConverter(pixels, to: form, in: memory, orientation: orientation).make()
        if !isPreview, let transformed = try transformed(made, form, facts, animation) {
            return Image(
                transformed, of: format ?? .jpeg, form: form, colour: facts?.colour, isPartial: goodRows != nil)
        }
        return Image(
            pixels: made, format: format ?? .jpeg, bytes: bytes, facts: facts, form: form, goodRows: goodRows,
            isPreview: isPreview, animation: animation?.sharing(made))
    }

    /// Whether the body's picture has its final size and its transforms already. Never true for an animation: it is
    /// stored unchanged and decoded like any other.
    func isMade(_ facts: ImageFacts?) -> Bool { isOfMadeBody && (facts?.frameCount ?? 1) == 1 }

    /// Applies the form's transforms.
    /// - Returns: `nil` if the picture stays as it is.
    func transformed(
        _ pixels: PixelBuffer, _ form: DecodeOptions, _ facts: ImageFacts?, _ animation: Animation?
    ) throws(CoderError) -> PixelBuffer? {
        guard let transforms = form.transforms, animation == nil, !isMade(facts) else { return nil }
        let made = try transforms.apply(to: pixels, as: form, maxPixels: limits.maxPixels)
        return made === pixels ? nil : made
    }
}

extension Image {
    /// Creates a transformed picture. It has no encoded bytes of its own, and it is unknown which of its rows are good.
    convenience init(
        _ pixels: PixelBuffer, of format: ImageFormat, form: DecodeOptions, colour: PictureColour?, isPartial: Bool
    ) {
        self.init(
            pixels: pixels, format: format, bytes: nil, form: form, goodRows: isPartial ? 0 : nil, colour: colour)
    }
}
