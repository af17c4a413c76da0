/// How pixels lie in memory. The raw values are SDD_PIXEL_FORMAT_ of the C header.
package enum PixelFormat: Int32, Sendable, Hashable, CaseIterable {
    case rgba8 = 1
    case rgba8Premultiplied = 2
    case bgra8 = 3
    case bgra8Premultiplied = 4
    case rgb8 = 5
    case grey8 = 6
    /// In the machine's byte order, as its premultiplied form is.
    case rgba16 = 7
    case rgba16Premultiplied = 8
    /// Red, green and blue one after the other, each a picture of its own.
    case rgb8Planar = 9

    /// From one pixel of a row to the next.
    package var bytesPerPixel: Int {
        switch self {
        case .rgba8, .rgba8Premultiplied, .bgra8, .bgra8Premultiplied: 4
        case .rgb8: 3
        case .grey8, .rgb8Planar: 1
        case .rgba16, .rgba16Premultiplied: 8
        }
    }

    package var planeCount: Int { self == .rgb8Planar ? 3 : 1 }

    var hasAlpha: Bool { bytesPerPixel >= 4 }

    /// Of the straight formats of four channels, the one with as many bits: what all others can be made of.
    var source: PixelFormat { bytesPerPixel == 8 ? .rgba16 : .rgba8 }
}

/// What a caller wants of the pixels. Of one body, equal forms are equal pixels, at the same place.
package struct PixelForm: Hashable, Sendable {
    package let format: PixelFormat
    /// Turned as Exif's orientation says; else as stored.
    package let isUpright: Bool
    /// What shows through where the format has no alpha: 0xRRGGBB.
    package let background: UInt32
    package var size: SizeRule
    /// A picture that is cut or damaged is taken as far as it is good.
    package let isLenient: Bool
    package var memory: PixelMemory
    package var frames: Frames
    /// Nothing is decoded before the pixels are asked for.
    package var isLazy: Bool

    /// What becomes of an animation.
    package enum Frames: Hashable, Sendable {
        /// Its frames are decoded when they are asked for.
        case access
        /// A still picture.
        case firstOnly
        /// All its frames are decoded with the picture.
        case preload
    }

    /// What a body is that nobody knows by its first bytes.
    package let formatHint: ImageFormat?

    /// What is done to the decoded picture, not to previews of it; nil, never empty, where nothing is.
    package var transforms: TransformChain? {
        didSet { if transforms?.transforms.isEmpty == true { transforms = nil } }
    }
    /// The image has its encoded bytes. A load's picture that is made smaller or transformed has none, wherever it comes
    /// from: the original's are not its own. The same pixels either way.
    package var keepsBytes = true
    /// Of an animated picture the first frame is transformed, and is all there is; else such a picture stays what it is.
    package var transformsAnimated = false

    package init(
        format: PixelFormat = .rgba8, isUpright: Bool = true, background: UInt32 = 0, size: SizeRule = .none,
        isLenient: Bool = false, memory: PixelMemory = .library, frames: Frames = .access,
        formatHint: ImageFormat? = nil, isLazy: Bool = false
    ) {
        self.format = format
        self.isUpright = isUpright
        self.size = size
        self.isLenient = isLenient
        self.memory = memory
        self.frames = frames
        self.formatHint = formatHint
        self.isLazy = isLazy
        // Where it does not matter, all are equal.
        self.background = format.hasAlpha ? 0 : background & 0xff_ffff
    }

    /// The same whose image has no bytes but its own: those of the original are not, where it is made to a size or
    /// transformed.
    package var withOwnBytesAlone: PixelForm {
        var form = self
        form.keepsBytes = size == .none && transforms == nil
        return form
    }

    /// Pixels of that form, made already, are what this one asks for, though who asked for them would have waited.
    package func isServedReady(by other: PixelForm) -> Bool {
        var eager = other
        eager.isLazy = isLazy
        return isServed(by: eager)
    }

    /// The pixels go to memory that the caller has lent.
    package var isCallers: Bool { if case .caller = memory.owner { true } else { false } }

    /// The same in memory that nobody has lent.
    package var ofTheLibrary: PixelForm {
        var form = self
        form.memory = memory.forPreview
        return form
    }

    /// What is lent for pixels is written at once; what is transformed, at once and to the library's own memory.
    package var isPossible: Bool {
        if isLazy && isCallers { return false }
        return transforms == nil || (!isLazy && memory.owner == .library)
    }

    /// What becomes of an animation after all.
    var framesLeft: Frames { transforms != nil && transformsAnimated ? .firstOnly : frames }

    /// Whether an image of that form is what this one asks for: pixels that are there also serve who would have waited.
    package func isServed(by other: PixelForm) -> Bool {
        var other = other
        other.keepsBytes = keepsBytes
        if self == other { return true }
        other.isLazy = true
        return self == other
    }

    /// Shown with the sides exchanged that it has as stored.
    func isTurned(by orientation: Int) -> Bool { isUpright && orientation > 4 }

    /// What an animation's frames may take together is for each a part of it, if all of them are wanted.
    func size(amongFrames count: Int) -> SizeRule { framesLeft == .preload ? size.divided(among: count) : size }
}
