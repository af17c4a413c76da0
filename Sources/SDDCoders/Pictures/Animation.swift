/// The frames of an animated picture, in the form that was requested. Callable from any thread.
package struct Animation: Sendable {
    // No enum: its case would be marked in an address, and the leak sanitizer would not find what is there.

    /// The source decodes frames on demand; it is `nil` if all frames are ready.
    private let source: (any FrameSource)?
    private var ready: [PixelBuffer] = []
    private var durations: [Int64] = []
    /// Index of the first damaged frame of those that are ready.
    private var firstDamaged = Int.max
    private let form: DecodeOptions
    /// True if the first of the preloaded frames is the picture's own pixels.
    private var sharesFirst = false
    /// Exif orientation, 1 to 8.
    private let orientation: Int
    /// The conversion of the frames to sRGB; `nil` if they stay as stored.
    private let converter: (any PixelConverting)?
    package let frameCount: Int
    /// Number of times the animation plays; 0 means forever.
    package let loopCount: Int

    /// Returns `nil` for a still picture, if the form wants only the first frame, and if a frame that should be
    /// preloaded is damaged. The picture is then shown as a still one.
    init?(
        _ source: (any FrameSource)?, form: DecodeOptions, _ facts: ImageFacts?, limits: DecodeLimits,
        _ clock: DecodeClock
    ) throws(CoderError) {
        guard let source, source.frameCount > 1, [.access, .preload].contains(form.framesLeft) else { return nil }
        let lazy = Animation(source, form, facts)
        guard form.framesLeft == .preload else {
            self = lazy
            return
        }
        do throws(CoderError) {
            self.init(lazy, ready: try lazy.allFrames(limits, clock, encodedCount: source.encodedByteCount))
        } catch {
            switch error.kind {
            case .noMemory, .tooManyFrames, .tooManyPixels, .tooMuchMemory, .tooMuchForBody, .tooSlow: throw error
            default: return nil
            }
        }
    }

    private init(_ source: any FrameSource, _ form: DecodeOptions, _ facts: ImageFacts?) {
        self.source = source
        self.form = form.withoutFunctions
        orientation = facts?.orientation ?? 1
        converter = form.colour == .sRGB ? facts?.colour?.converter : nil
        frameCount = source.frameCount
        loopCount = source.loopCount
    }

    /// Creates an animation of frames that an application has made, all of one size and format.
    init(_ frames: [(pixels: PixelBuffer, duration: Int64)], loopCount: Int) {
        source = nil
        (ready, durations) = (frames.map(\.pixels), frames.map(\.duration))
        form = DecodeOptions(format: frames.first?.pixels.format ?? .rgba8)
        (orientation, converter) = (1, nil)
        frameCount = frames.count
        self.loopCount = loopCount
        sharesFirst = true
    }

    /// Returns the animation without a second copy of its first frame, if that is the picture itself, as it usually is.
    func sharing(_ picture: PixelBuffer) -> Animation {
        guard let first = ready.first, !picture.memory.isLent, first.shows(picture) else { return self }
        var shared = self
        shared.ready[0] = picture
        shared.sharesFirst = true
        return shared
    }

    private init(_ other: Animation, ready: [PixelBuffer]) {
        source = nil
        self.ready = ready
        durations = ready.indices.map { other.duration(of: $0) }
        firstDamaged = ready.indices.first { other.isDamaged($0) } ?? .max
        (form, orientation, converter) = (other.form, other.orientation, other.converter)
        (frameCount, loopCount) = (other.frameCount, other.loopCount)
    }

    /// Bytes of all frames, if they were decoded together with the picture, but not of one that is the picture itself.
    var readyByteCount: Int {
        ready.dropFirst(sharesFirst ? 1 : 0).reduce(0) { $0 + $1.byteCount }
    }

    /// Bytes of composed frames that are kept for later calls.
    var keptByteCount: Int { source?.keptByteCount ?? 0 }

    /// Bytes of the encoded data that frames are decoded from on demand.
    var encodedByteCount: Int { source?.encodedByteCount ?? 0 }

    /// Returns how long a frame is shown, in microseconds; 0 if the frame does not exist.
    package func duration(of index: Int) -> Int64 {
        if let source { return source.duration(of: index) }
        return durations.indices.contains(index) ? durations[index] : 0
    }

    /// Returns the pixels of a frame, in the form that was requested.
    /// - Parameter index: from 0, below `frameCount`.
    package func frame(_ index: Int) throws(CoderError) -> PixelBuffer {
        guard let source else { return ready[index] }
        let canvas = try source.frame(index)
        // A decoder that is shared with others may keep what is damaged.
        if !form.isLenient, source.isDamaged(index) { throw CoderError(.corrupt, "frame \(index)") }
        return try formed(canvas)
    }

    /// Whether a frame that has been returned is damaged, or may be drawn on one that is.
    func isDamaged(_ index: Int) -> Bool { source?.isDamaged(index) ?? (index >= firstDamaged) }

    private func allFrames(
        _ limits: DecodeLimits, _ clock: DecodeClock, encodedCount: Int
    ) throws(CoderError) -> [PixelBuffer] {
        guard frameCount <= limits.maxFrames else { throw CoderError(.tooManyFrames, "\(frameCount) frames") }
        var made: [PixelBuffer] = []
        for index in 0..<frameCount {
            try clock.check()
            let pixels = try frame(index)
            if index == 0 { try check(pixels, limits, encodedCount: encodedCount) }
            made.append(pixels)
        }
        return made
    }

    /// Checks the limits for all frames together. All frames have the same size, so the total is known after the first.
    private func check(_ first: PixelBuffer, _ limits: DecodeLimits, encodedCount: Int) throws(CoderError) {
        let (pixels, isMore) = (first.width * first.height).multipliedReportingOverflow(by: frameCount)
        guard !isMore, pixels <= limits.maxPixels else {
            throw CoderError(.tooManyFrames, "\(frameCount) frames of \(first.width) x \(first.height) pixels")
        }
        let (bytes, isOver) = first.byteCount.multipliedReportingOverflow(by: frameCount)
        guard limits.maxBytes <= 0 || !isOver && bytes <= limits.maxBytes else {
            throw CoderError(.tooMuchMemory, "\(frameCount) frames of \(first.byteCount) bytes")
        }
        guard limits.isPlausible(isOver ? .max : bytes, of: encodedCount) else {
            throw CoderError(
                .tooMuchForBody, "\(frameCount) frames of \(first.byteCount) bytes for a body of \(encodedCount)")
        }
    }

    /// Converts a frame to the form, as `PictureStream` does for a still picture.
    private func formed(_ canvas: PixelBuffer) throws(CoderError) -> PixelBuffer {
        // Memory lent by the application is for one picture, not for each frame.
        try PixelConverter(shaped(canvas), to: form, in: form.memory.forPreview, orientation: orientation).make()
    }

    /// Scales a frame and converts its colours. The canvas itself stays as it is: the next frame is drawn on it.
    private func shaped(_ canvas: PixelBuffer) throws(CoderError) -> PixelBuffer {
        let made = try reduced(canvas)
        guard let converter else { return made }
        // Little CMS is asked for 8 bits a channel.
        let isNarrow = converter.takesBytesAlone
        let own = made === canvas || isNarrow ? try made.straightCopy(isNarrow: isNarrow) : made
        try converter.convert(own)
        // It was converted with 16 bits a channel; the form may have 8.
        return own.format == .rgba16 && form.format.source == .rgba8 ? try own.straightCopy(isNarrow: true) : own
    }

    private func reduced(_ canvas: PixelBuffer) throws(CoderError) -> PixelBuffer {
        let plan = form.size(amongFrames: frameCount).plan(
            width: canvas.width, height: canvas.height, isTransposed: form.isTurned(by: orientation))
        if plan.isWhole { return canvas }
        return try Reduction(
            width: canvas.width, height: canvas.height, plan: plan, storedWidth: canvas.width,
            storedHeight: canvas.height, format: canvas.format, isOpaque: false
        ).reduce(canvas)
    }
}

extension Image {
    /// Creates an animated picture, or a still one of a single frame.
    /// - Parameters:
    ///   - frames: at least one; the pixels of all are of one size and format.
    ///   - images: what the frames are of. If one lacks rows, the picture does; the first gives the colours.
    package convenience init(
        frames: [(pixels: PixelBuffer, duration: Int64)], loopCount: Int, of images: [Image] = []
    ) {
        let first = frames[0].pixels
        self.init(
            pixels: first, format: nil, bytes: nil,
            form: DecodeOptions(format: first.format, colour: images.first?.form.colour ?? .usual),
            goodRows: images.contains { $0.goodRows != nil } ? 0 : nil, isPreview: images.contains { $0.isPreview },
            animation: frames.count > 1 ? Animation(frames, loopCount: loopCount) : nil, colour: images.first?.colour)
    }

    /// Returns the picture's own pixels for use in another one: decoded, in a format, and not in memory that the
    /// application has lent for this picture alone.
    package func shareable(as format: PixelFormat?) throws(CoderError) -> PixelBuffer {
        let pixels = try decoded()
        let wanted = format ?? pixels.format
        if pixels.format == wanted { return pixels.memory.isLent ? try pixels.copy(in: .library) : pixels }
        return try PixelConverter(pixels.straightCopy(isNarrow: wanted.source == .rgba8), to: wanted).make()
    }

    /// Number of frames; 1 for a still picture.
    package var frameCount: Int { animation?.frameCount ?? 1 }

    /// Returns one frame as a still image without encoded bytes, or, for a still picture, the picture itself. Returns
    /// `nil` if the frame does not exist.
    package func frame(_ index: Int) throws(CoderError) -> Image? {
        guard index >= 0, index < frameCount else { return nil }
        guard let animation else { return self }
        let before = animation.keptByteCount
        defer { if animation.keptByteCount != before { memoryChanged() } }
        let pixels = try animation.frame(index)
        // If rows are missing, it is unknown which.
        let isWhole = !isPartial && !animation.isDamaged(index)
        return Image(
            pixels: pixels, format: format, bytes: nil, form: form, goodRows: isWhole ? nil : 0, colour: colour)
    }
}
