package import SDDBase

/// What a decoder is to make of a body.
package struct DecodeTask {
    /// What the pixels are for: if the decoder can write just that, it does, there. Else its `source`, in the library's
    /// own memory.
    let wanted: PixelFormat
    let memory: PixelMemory
    let limits: DecodeLimits
    /// A picture that is cut or damaged is taken as far as it is good.
    let isLenient: Bool
    /// Each pixel of a smaller picture is made of all those that it covers.
    let isExact: Bool
    /// What to make of a picture of that width and height.
    let plan: (Int, Int) -> SizePlan

    /// Where a decoder is to write pixels of a format.
    func memory(for format: PixelFormat) -> PixelMemory { format == wanted ? memory : .library }

    /// - Throws: when it would be larger than allowed.
    func plan(width: UInt32, height: UInt32) throws(CoderError) -> SizePlan {
        try PixelBuffer.check(width: width, height: height, maxPixels: limits.maxPixels)
        let plan = plan(Int(width), Int(height))
        try PixelBuffer.check(plan, maxPixels: limits.maxPixels)
        return plan
    }
}

/// How much a picture may cost, and how bad it may be.
package struct DecodeLimits: Sendable, Hashable {
    /// Largest width x height as stored; checked before any pixel memory is taken.
    package var maxPixels = 128 << 20
    /// Largest memory that one picture may take while it is decoded, in bytes; 0: any.
    package var maxBytes = 1 << 30
    /// A picture that takes more than `smallBytes` must have a body of at least one in so many bytes of that; 0: any.
    package var maxRatio = 0
    /// What every picture may take.
    package static var smallBytes: Int { 128 << 20 }
    /// Of a JPEG: each costs a walk over all coefficients.
    package var maxScans: UInt32 = 500
    /// Processor time: so many milliseconds, and so many more for each MiB of the body; 0: any.
    package var milliseconds: Int64 = 5000
    package var millisecondsPerMiB: Int64 = 1000
    /// Of an animation; more of them are neither decoded at once nor one by one.
    package var maxFrames = 10_000
    /// What an animation may keep of composed frames, see `AnimationCache`.
    package var frameCacheBytes = 32 << 20

    package init(maxPixels: Int = 128 << 20) { self.maxPixels = maxPixels }

    /// Whether a picture of that many encoded bytes may well need so much memory.
    func isPlausible(_ bytes: Int, of encoded: Int) -> Bool {
        maxRatio <= 0 || bytes <= Self.smallBytes || bytes / maxRatio <= encoded
    }

    /// The same for the shims; 0: any. Cut far beyond any use, so that nothing overflows.
    var microseconds: (base: Int64, perMiB: Int64) {
        (min(max(milliseconds, 0), 1 << 28) * 1000, min(max(millisecondsPerMiB, 0), 1 << 28) * 1000)
    }
}

/// One picture on its way from bytes to pixels, as the bytes come. Any thread, one at a time.
package protocol PictureReading: AnyObject {
    /// Takes what has come since the last call; after an error, or the pixels, it is over.
    /// - Parameters:
    ///   - bytes: from the first one: those of the call before, and perhaps more.
    ///   - isLast: they are all there will be.
    /// - Returns: the pixels as stored, or a smaller picture of them; nil while some are missing, never with `isLast`.
    func read(_ bytes: Bytes, isLast: Bool) throws(CoderError) -> PixelBuffer?

    /// Whether the whole body, whose pixels `read` gave perhaps before its last byte, goes on to the picture's end.
    func isEnded(by body: Bytes) -> Bool

    /// What can be seen so far, in memory of its own; nil if that is no more than the last time: rows, or so many scans
    /// or passes.
    func preview(afterScans: Int) throws(CoderError) -> Preview?

    /// Of the pixels that `read` gave, rows from the top that are good; nil: all. Only where `isLenient`.
    var goodRows: Int? { get }
}

extension PictureReading {
    package func isEnded(by body: Bytes) -> Bool { true }
    package func preview(afterScans: Int) throws(CoderError) -> Preview? { nil }
    package var goodRows: Int? { nil }
}

/// A picture that is not complete.
package struct Preview {
    let pixels: PixelBuffer
    /// From the top; below them nothing is to be seen.
    let goodRows: Int
}

/// A format the library can decode: what a `CoderRegistry` holds.
package protocol ImageCoding: Sendable {
    var format: ImageFormat { get }
    func makeReader(_ task: DecodeTask) throws(CoderError) -> any PictureReading
    /// Of an animated picture; nil for a still one.
    /// - Parameter isWhole: else those that are there in full so far.
    func frames(of bytes: Bytes, limits: DecodeLimits, isWhole: Bool) -> (any FrameSource)?
}

extension ImageCoding {
    package func frames(of bytes: Bytes, limits: DecodeLimits, isWhole: Bool) -> (any FrameSource)? { nil }
}
