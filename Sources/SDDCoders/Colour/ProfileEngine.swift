internal import SDDBase

/// Converts pixels by a profile with tables, or of four inks, with the installed coder for such profiles. That is a coder
/// whose bodies are pixels with their profile, so that it is found, loaded and isolated like any other; no host can send
/// such a body, since it is never recognised as a picture. Immutable; callable from any thread.
final class ProfileEngine: PixelConverting {
    private let coder: any AppCoder
    private let profile: Bytes
    private let hasInks: Bool
    private let helpers: HelperPool?

    /// Returns `nil` if nothing that reads such profiles is installed, or if it refuses this one.
    init?(_ profile: Bytes, hasInks: Bool, _ registry: CoderRegistry) {
        guard let coder = registry.profileCoder else { return nil }
        self.coder = coder
        self.profile = profile
        self.hasInks = hasInks
        helpers = registry.helpers(for: coder, DecodeLimits())
        guard canConvert else { return nil }
    }

    /// Whether one pixel can be converted: what is wrong with a profile is no error of its picture.
    private var canConvert: Bool {
        do throws(CoderError) {
            let pixel = try PixelBuffer.make(width: 1, height: 1, .rgba8)
            pixel.clear(from: 0)
            try convert(pixel)
            return true
        } catch {
            return false
        }
    }

    /// - Parameter pixels: RGBA8, or four inks in their places, as a JPEG has them: 255 is none.
    func convert(_ pixels: PixelBuffer) throws(CoderError) {
        var task = AppDecodeTask(maxPixels: pixels.width * pixels.height)
        task.helpers = helpers
        let picture = try AppPicture.open(body(of: pixels), with: coder, task)
        guard let frame = try picture.next(), frame.width == pixels.width, frame.height == pixels.height else {
            throw CoderError(.coder, "coder \(coder.name): no pixels, or too few")
        }
        let made = try frame.whole()
        for y in 0..<pixels.height {
            (pixels.base + y * pixels.stride).copyMemory(from: made.base + y * made.stride, byteCount: pixels.width * 4)
        }
        picture.close()
    }

    /// The name at the beginning of a body, with its NUL.
    private static let name: StaticString = "libsdd pixels\0"

    /// Returns the name, width, height, 1 for inks, the size of the profile, the profile and the rows. Numbers have 4
    /// bytes, the highest first.
    private func body(of pixels: PixelBuffer) throws(CoderError) -> Bytes {
        let body = ByteBuilder()
        var isWhole = body.append(Self.name.utf8Start, count: Self.name.utf8CodeUnitCount)
        for number in [pixels.width, pixels.height, hasInks ? 1 : 0, profile.count] {
            var stored = UInt32(clamping: number).bigEndian
            isWhole = isWhole && body.append(&stored, count: 4)
        }
        if let base = profile.pointer.baseAddress { isWhole = isWhole && body.append(base, count: profile.count) }
        withExtendedLifetime(profile) {}
        for y in 0..<pixels.height where isWhole {
            isWhole = body.append(pixels.base + y * pixels.stride, count: pixels.width * 4)
        }
        guard isWhole else { throw CoderError(.noMemory, "\(pixels.width) x \(pixels.height) pixels") }
        return body.take()
    }
}
