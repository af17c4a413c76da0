package import SDDBase

/// Encodes pixels as JPEG or PNG, or with one of the application's coders. Callable from any thread.
package enum ImageEncoder {
    /// Encodes pixels as the options say.
    /// - Parameters:
    ///   - colour: what the pixels' colours are.
    ///   - registry: its application coders take precedence over the library's own.
    package static func encode(
        _ pixels: PixelBuffer, _ options: EncodeOptions, colour: EncodedColour = .none,
        registry: CoderRegistry = .builtIn
    ) throws(EncodeError) -> Bytes {
        var made = try resized(pixels, options.size)
        let isOpaque = made.isOpaque
        let fitsJPEG = max(made.width, made.height) <= JPEGEncoder.longestSide
        let format = options.format ?? (isOpaque && fitsJPEG ? .jpeg : .png)
        let parts = colour.parts(for: format, isGrey: made.format == .grey8, byteLimit: options.byteLimit)
        if let converter = colour.converter(ifNotSaidBy: parts) { made = try converted(made, by: converter) }
        if let coder = try coder(for: format, in: registry) { return try encode(made, parts, with: coder, options) }
        switch format {
        case .jpeg: return try encodeJPEG(made, isOpaque: isOpaque, parts, options)
        case .png: break
        default: throw .unsupported
        }
        do throws(EncodeError) {
            return try encodePNG(made, isOpaque: isOpaque, parts, options)
        } catch .profileRefused {
            // libpng takes fewer profiles than a JPEG may have.
            if let converter = colour.converterOfFrames { made = try converted(made, by: converter) }
            return try encodePNG(made, isOpaque: isOpaque, StoredColour(), options)
        } catch {
            throw error
        }
    }

    /// Encodes an image as the options say, with all its frames if they ask for them.
    package static func encode(
        _ image: Image, _ options: EncodeOptions, registry: CoderRegistry
    ) throws(EncodeError) -> Bytes {
        if options.isAnimated, image.animation != nil {
            let format = options.format ?? .png
            if let coder = try coder(for: format, in: registry, ofFrames: true) {
                return try encodeFrames(of: image, with: coder, options)
            }
            guard format == .png else { throw .unsupported }
            let bytes = try APNGEncoder.encode(FrameFeed(image, options.size))
            guard options.byteLimit <= 0 || bytes.count <= options.byteLimit else { throw .doesNotFit }
            return bytes
        }
        let pixels: PixelBuffer
        do throws(CoderError) { pixels = try image.decoded() } catch { throw .frame(error) }
        // A coder that encodes only animations makes one of a single frame.
        if let format = options.format, format != .jpeg, format != .png, try coder(for: format, in: registry) == nil,
            let coder = try coder(for: format, in: registry, ofFrames: true)
        {
            let still = Image(pixels: pixels, format: nil, bytes: nil, form: image.form, colour: image.colour)
            return try encodeFrames(of: still, with: coder, options)
        }
        return try encode(pixels, options, colour: EncodedColour(of: image), registry: registry)
    }

    private static func encodeFrames(
        of image: Image, with coder: any AppCoder, _ options: EncodeOptions
    ) throws(EncodeError) -> Bytes {
        try encodeToFit(options) { quality, limit throws(EncodeError) in
            let (frames, builder) = (FrameFeed(image, options.size), ByteBuilder())
            do throws(CoderError) {
                try coder.encodeFrames(frames, quality: quality, into: builder)
            } catch {
                if let failure = frames.failure { throw .frame(failure) }
                throw error.kind == .noMemory ? .noMemory : .unsupported
            }
            guard builder.count <= limit else { throw .doesNotFit }
            return builder.take()
        }
    }

    private static func encodeJPEG(
        _ pixels: PixelBuffer, isOpaque: Bool, _ colour: StoredColour, _ options: EncodeOptions
    ) throws(EncodeError) -> Bytes {
        let encoder = try JPEGEncoder()
        return try encodeToFit(options) { quality, limit throws(EncodeError) in
            try encoder.encode(pixels, isOpaque: isOpaque, colour, quality: quality, limit: limit, options)
        }
    }

    private static func coder(
        for format: ImageFormat, in registry: CoderRegistry, ofFrames: Bool = false
    ) throws(EncodeError) -> (any AppCoder)? {
        do throws(CoderError) {
            return try registry.encodingCoder(format, ofFrames: ofFrames)
        } catch {
            throw .notLoaded(error.reason)
        }
    }

    private static func encode(
        _ pixels: PixelBuffer, _ colour: StoredColour, with coder: any AppCoder, _ options: EncodeOptions
    ) throws(EncodeError) -> Bytes {
        try encodeToFit(options) { quality, limit throws(EncodeError) in
            let bytes: Bytes
            do throws(CoderError) {
                bytes = try CoderRegistry.encode(pixels, colour, with: coder, quality: quality)
            } catch {
                throw error.kind == .noMemory ? .noMemory : .unsupported
            }
            guard bytes.count <= limit else { throw .doesNotFit }
            return bytes
        }
    }

    /// Encodes with the highest quality, up to the one in `options`, that fits the byte limit.
    /// - Parameter attempt: encodes with a given quality into at most a given number of bytes.
    private static func encodeToFit(
        _ options: EncodeOptions, _ attempt: (Int, Int) throws(EncodeError) -> Bytes
    ) throws(EncodeError) -> Bytes {
        let limit = options.byteLimit > 0 ? Int(clamping: options.byteLimit) : .max
        guard limit < .max else { return try attempt(options.quality, limit) }
        if let bytes = try ifItFits({ () throws(EncodeError) in try attempt(options.quality, limit) }) { return bytes }
        // Qualities up to `low` fit, those from `high` on do not.
        var (low, high) = (0, options.quality)
        var best: Bytes?
        while high - low > 1 {
            let middle = (low + high) / 2
            if let bytes = try ifItFits({ () throws(EncodeError) in try attempt(middle, limit) }) {
                (low, best) = (middle, bytes)
            } else {
                high = middle
            }
        }
        guard let best else { throw .doesNotFit }
        return best
    }

    private static func ifItFits(_ attempt: () throws(EncodeError) -> Bytes) throws(EncodeError) -> Bytes? {
        do throws(EncodeError) {
            return try attempt()
        } catch .doesNotFit {
            return nil
        } catch {
            throw error
        }
    }

    /// Encodes a PNG as large as the byte limit allows. PNG has no quality setting, so only the size can be reduced;
    /// the file size is roughly proportional to the area.
    private static func encodePNG(
        _ pixels: PixelBuffer, isOpaque: Bool, _ colour: StoredColour, _ options: EncodeOptions
    ) throws(EncodeError) -> Bytes {
        let encoder = try PNGEncoder()
        var (made, scale) = (pixels, 1.0)
        while true {
            let bytes = try encoder.encode(made, isOpaque: isOpaque, colour)
            guard options.byteLimit > 0, bytes.count > options.byteLimit else { return bytes }
            guard made.width > 1 || made.height > 1 else { throw .doesNotFit }
            scale *= min(0.95, (Double(options.byteLimit) / Double(bytes.count)).squareRoot())
            let size = SizeRule(
                width: max(1, Int(Double(pixels.width) * scale)), height: max(1, Int(Double(pixels.height) * scale)),
                fit: .stretch)
            made = try resized(pixels, size)
        }
    }

    private static func converted(_ pixels: PixelBuffer, by converter: any PixelConverting) throws(EncodeError)
        -> PixelBuffer
    {
        do throws(CoderError) {
            let copy = try pixels.straightCopy(isNarrow: converter.takesBytesAlone)
            try converter.convert(copy)
            return copy
        } catch {
            throw .noMemory
        }
    }

    private static func resized(_ pixels: PixelBuffer, _ size: SizeRule) throws(EncodeError) -> PixelBuffer {
        do throws(CoderError) { return try pixels.resized(size) } catch { throw .noMemory }
    }
}
