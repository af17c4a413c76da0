/// The frames of an animated image in the size that an encoder wants, in sRGB if what they are is known: no format of
/// animations keeps more of it than sRGB.
final class FrameFeed: FrameFeeding {
    private let image: Image
    private let size: SizeRule
    private let converter: (any PixelConverting)?
    private var next = 0
    /// The latest frame, whose pixels an encoder may still read.
    private var latest: PixelBuffer?
    /// The reason why there was no further frame, although there should be one.
    private(set) var failure: CoderError?

    init(_ image: Image, _ size: SizeRule) {
        (self.image, self.size) = (image, size)
        converter = EncodedColour(of: image).converterOfFrames
    }

    var frameCount: Int { image.frameCount }
    var loopCount: Int { image.animation?.loopCount ?? 1 }

    func nextFrame() throws(CoderError) -> (pixels: PixelBuffer, duration: Int64)? {
        guard next < frameCount else { return nil }
        do throws(CoderError) {
            let duration = image.animation?.duration(of: next) ?? 0
            let whole: PixelBuffer
            if let animation = image.animation {
                whole = try animation.frame(next)
            } else {
                whole = try image.decoded()
            }
            let pixels = try whole.resized(size)
            let isAsItIs = pixels.format == .rgba8 && converter == nil
            let narrow = isAsItIs ? pixels : try pixels.straightCopy(isNarrow: true)
            try converter?.convert(narrow)
            next += 1
            latest = narrow
            return (narrow, duration)
        } catch {
            failure = error
            throw error
        }
    }
}
