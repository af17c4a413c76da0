package import SDDBase

/// Parameters of a decode.
package struct DecodeTask {
    /// The requested format. A decoder that can write this format does so, to `memory`; any other writes the format's
    /// `source`, to the library's own memory.
    let wanted: PixelFormat
    let memory: PixelMemory
    let limits: DecodeLimits
    /// True if a truncated or damaged picture is accepted as far as it is good.
    let isLenient: Bool
    /// True if each pixel of a smaller picture is computed from all pixels that it covers.
    let isExact: Bool
    /// True if scans of a JPEG that the size does not need are left out, see `PictureSource.dropsScans`.
    var dropsScans = false
    /// True if the inks of a JPEG stay what they are, in the place of red, green, blue and alpha.
    var keepsInks = false
    /// The size of the pixels, and whether its sides are exchanged in the stored picture, see `PictureSource.Key`.
    var size = SizeRule.none
    var isTransposed = false

    /// Returns the memory to which a decoder writes pixels of a format.
    func memory(for format: PixelFormat) -> PixelMemory { format == wanted ? memory : .library }

    /// Returns the plan for a picture, and checks its size.
    /// - Throws: if the picture is larger than allowed, as stored or as planned.
    func plan(width: UInt32, height: UInt32) throws(CoderError) -> SizePlan {
        try PixelBuffer.check(width: width, height: height, maxPixels: limits.maxPixels)
        let plan = size.plan(width: Int(width), height: Int(height), isTransposed: isTransposed)
        try PixelBuffer.check(plan, maxPixels: limits.maxPixels)
        return plan
    }
}

/// Limits on the resources that one picture may take.
package struct DecodeLimits: Sendable, Hashable {
    /// Largest width x height as stored; checked before any pixel memory is taken.
    package var maxPixels = 128 << 20
    /// Largest memory that decoding one picture may take, in bytes; 0 means no limit.
    package var maxBytes = 1 << 30
    /// Largest ratio of that memory to the body's size, for a picture that takes more than `smallBytes`; 0 means no
    /// limit.
    package var maxRatio = 0
    /// Memory that any picture may take, however small its body is.
    package static var smallBytes: Int { 128 << 20 }
    /// Largest number of scans of a JPEG: each costs a pass over all coefficients.
    package var maxScans: UInt32 = 500
    /// CPU time in milliseconds, with an addition for each MiB of the body; 0 means no limit.
    package var milliseconds: Int64 = 5000
    package var millisecondsPerMiB: Int64 = 1000
    /// Largest number of frames of an animation. If it has more, none of them is decoded.
    package var maxFrames = 10_000
    /// Bytes of composed frames that an animation may keep, see `AnimationCache`.
    package var frameCacheBytes = 32 << 20

    package init(maxPixels: Int = 128 << 20) { self.maxPixels = maxPixels }

    /// Whether a body of `encoded` bytes is large enough for a picture that takes `bytes` of memory.
    func isPlausible(_ bytes: Int, of encoded: Int) -> Bool {
        maxRatio <= 0 || bytes <= Self.smallBytes || bytes / maxRatio <= encoded
    }

    /// The time limits in microseconds, for the C shims; 0 means no limit. Clamped far beyond any practical value, so
    /// that nothing overflows.
    var microseconds: (base: Int64, perMiB: Int64) {
        (min(max(milliseconds, 0), 1 << 28) * 1000, min(max(millisecondsPerMiB, 0), 1 << 28) * 1000)
    }
}

/// A decode of one picture, as its bytes arrive. Callable from any thread, by one thread at a time.
package protocol PictureReading: AnyObject {
    /// Decodes the bytes that have arrived since the last call. The decode is over after an error, and when the pixels
    /// have been returned.
    /// - Parameters:
    ///   - bytes: all bytes so far, from the first one on: those of the previous call, and perhaps more.
    ///   - isLast: true if no more bytes will come.
    /// - Returns: the pixels as stored, or a smaller picture of them; `nil` while some are missing, but never with
    ///   `isLast`.
    func read(_ bytes: Bytes, isLast: Bool) throws(CoderError) -> PixelBuffer?

    /// Whether the whole body continues to the picture's end. `read` may have returned its pixels before the last byte.
    func isEnded(by body: Bytes) -> Bool

    /// Returns a preview of the picture so far, in memory of its own.
    /// - Parameter afterScans: number of scans or passes that must be new since the previous preview; 0 also allows a
    ///   preview that shows nothing new.
    /// - Returns: `nil` if there is nothing to show, or not enough new scans, passes or rows.
    func preview(afterScans: Int) throws(CoderError) -> Preview?

    /// Number of good rows, from the top, of the pixels that `read` returned; `nil` means all. Set only if `isLenient`.
    var goodRows: Int? { get }
}

extension PictureReading {
    package func isEnded(by body: Bytes) -> Bool { true }
    package func preview(afterScans: Int) throws(CoderError) -> Preview? { nil }
    package var goodRows: Int? { nil }
}

/// A picture that is not complete yet.
package struct Preview {
    let pixels: PixelBuffer
    /// Number of good rows from the top; the rows below them are empty.
    let goodRows: Int
}

/// A format that the library can decode, as an element of a `CoderRegistry`.
package protocol ImageCoding: Sendable {
    var format: ImageFormat { get }
    func makeReader(_ task: DecodeTask) throws(CoderError) -> any PictureReading
    /// Returns the frames of an animated picture, or `nil` for a still one. There is only one frame if the still picture
    /// in the body is not it.
    /// - Parameters:
    ///   - isWhole: false for the beginning of a body; the frames are then those that have arrived completely.
    ///   - isDeep: true for frames of 16 bits a channel.
    func frames(of bytes: Bytes, limits: DecodeLimits, isWhole: Bool, isDeep: Bool) -> (any FrameSource)?

    /// Unpacks the colour profile in an iCCP chunk of a PNG. Returns `nil` if it is damaged.
    /// - Throws: if the process that decodes ends.
    func profile(unpacking chunk: UnsafeRawBufferPointer, isGrey: Bool, limits: DecodeLimits) throws(CoderError)
        -> Bytes?
}

extension ImageCoding {
    package func frames(
        of bytes: Bytes, limits: DecodeLimits, isWhole: Bool, isDeep: Bool
    ) -> (any FrameSource)? { nil }

    package func profile(
        unpacking chunk: UnsafeRawBufferPointer, isGrey: Bool, limits: DecodeLimits
    ) throws(CoderError) -> Bytes? { nil }
}
