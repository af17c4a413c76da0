internal import SDDBase

/// Converts pixels by a profile with tables, or of four inks, with the installed coder for such profiles. That is a coder
/// whose bodies are pixels with their profile, so that it is found, loaded and isolated like any other; no host can send
/// such a body, since it is never recognised as a picture. Immutable; callable from any thread.
final class ProfileEngine: PixelConverting {
    let takesBytesAlone = true
    private let coder: any AppCoder
    private let profile: Bytes
    private let hasInks: Bool
    private let limits: DecodeLimits
    private let helpers: HelperPool?

    /// Returns `nil` if nothing that reads such profiles is installed, or if it refuses this one.
    init?(_ profile: Bytes, hasInks: Bool, _ registry: CoderRegistry, _ limits: DecodeLimits) {
        guard let coder = registry.profileCoder else { return nil }
        self.coder = coder
        self.profile = profile
        self.hasInks = hasInks
        self.limits = limits
        helpers = registry.helpers(for: coder, limits)
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
        let clock = DecodeClock(limits, byteCount: pixels.width * pixels.height)
        let rows = max(1, Self.pixelsAtATime / pixels.width)
        for top in stride(from: 0, to: pixels.height, by: rows) {
            try clock.check()
            try convert(top..<min(top + rows, pixels.height), of: pixels)
        }
    }

    /// Pixels of a strip, so that its copies take little memory.
    private static let pixelsAtATime = 1 << 18

    private func convert(_ rows: Range<Int>, of pixels: PixelBuffer) throws(CoderError) {
        var task = AppDecodeTask(maxPixels: pixels.width * rows.count)
        (task.helpers, task.limits) = (helpers, limits)
        let picture = try AppPicture.open(body(of: rows, of: pixels), with: coder, task)
        guard let frame = try picture.next(), frame.width == pixels.width, frame.height == rows.count else {
            throw CoderError(.coder, "coder \(coder.name): no pixels, or too few")
        }
        let made = try frame.whole()
        for (index, y) in rows.enumerated() {
            (pixels.base + y * pixels.stride).copyMemory(
                from: made.base + index * made.stride, byteCount: pixels.width * 4)
        }
        picture.close()
    }

    /// The name at the beginning of a body, with its NUL.
    private static let name: StaticString = "libsdd pixels\0"

    /// Returns the name, width, height, 1 for inks, the size of the profile, the profile and the rows. Numbers have 4
    /// bytes, the highest first.
    private func body(of rows: Range<Int>, of pixels: PixelBuffer) throws(CoderError) -> Bytes {
        let body = ByteBuilder()
        var isWhole = body.append(Self.name.utf8Start, count: Self.name.utf8CodeUnitCount)
        for number in [pixels.width, rows.count, hasInks ? 1 : 0, profile.count] {
            var stored = UInt32(clamping: number).bigEndian
            isWhole = isWhole && body.append(&stored, count: 4)
        }
        if let base = profile.pointer.baseAddress { isWhole = isWhole && body.append(base, count: profile.count) }
        withExtendedLifetime(profile) {}
        for y in rows where isWhole {
            isWhole = body.append(pixels.base + y * pixels.stride, count: pixels.width * 4)
        }
        guard isWhole else { throw CoderError(.noMemory, "\(pixels.width) x \(rows.count) pixels") }
        return body.take()
    }
}

extension PictureColour {
    /// Returns the same with what is installed to convert it, if the library does not read its profile.
    func asking(_ registry: CoderRegistry, _ limits: DecodeLimits) -> PictureColour {
        guard mayNeedEngine, let profile = description.profile,
            let engine = ProfileEngine(profile, hasInks: kind == .inks, registry, limits)
        else { return self }
        return converted(by: engine)
    }
}
