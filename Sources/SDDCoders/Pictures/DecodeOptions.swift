/// The form in which an application wants a picture's pixels. For one body, equal forms mean equal pixels, in the same
/// memory.
package struct DecodeOptions: Hashable, Sendable {
    package let format: PixelFormat
    /// True if the picture is turned as its Exif orientation says; false if it stays as stored.
    package let isUpright: Bool
    /// Colour that shows through if the format has no alpha: 0xRRGGBB.
    package let background: UInt32
    package var size: SizeRule
    /// True if a truncated or damaged picture is accepted as far as it is good.
    package let isLenient: Bool
    package var memory: PixelMemory
    package var frames: Frames
    /// True if the picture is decoded only when its pixels are requested.
    package var isLazy: Bool

    /// Ways to decode an animation.
    package enum Frames: Hashable, Sendable {
        /// Frames are decoded on demand.
        case access
        /// Only the first frame is decoded, as a still picture.
        case firstOnly
        /// All frames are decoded together with the picture.
        case preload
        /// Only the still picture is decoded that programs show which know no animations: the first frame, except in a
        /// PNG that hides it.
        case still
    }

    /// The colours of the pixels.
    package var colour: Colour

    package enum Colour: Hashable, Sendable {
        /// The numbers of the file, but a load makes `sRGB` of it.
        case usual
        /// The numbers of the file, for a load as well.
        case asStored
        /// Converted to sRGB, if the picture says what its colours are.
        case sRGB

        /// Returns what takes the place of a case that says the same as another, for a load or for anything else: forms
        /// of the same pixels are equal. Returns `nil` if this stays.
        package func resolved(forLoad isLoad: Bool) -> Colour? {
            guard self == (isLoad ? .usual : .asStored) else { return nil }
            return isLoad ? .sRGB : .usual
        }
    }

    /// Format to assume for a body whose first bytes no coder recognizes.
    package let formatHint: ImageFormat?

    /// Transforms of the decoded picture, not of its previews; `nil`, never empty, if there are none.
    package var transforms: TransformChain? {
        didSet { if transforms?.transforms.isEmpty == true { transforms = nil } }
    }
    /// True if the image keeps its encoded bytes. A picture of a load that is resized or transformed has none, wherever
    /// it comes from: the original's bytes are not its own. This does not affect the pixels.
    package var keepsBytes = true
    /// True if an animated picture is reduced to its first frame, which is then transformed; false if animated pictures
    /// are left as they are.
    package var transformsAnimated = false

    package init(
        format: PixelFormat = .rgba8, isUpright: Bool = true, background: UInt32 = 0, size: SizeRule = .none,
        isLenient: Bool = false, memory: PixelMemory = .library, frames: Frames = .access,
        formatHint: ImageFormat? = nil, isLazy: Bool = false, colour: Colour = .usual
    ) {
        self.format = format
        self.isUpright = isUpright
        self.size = size
        self.isLenient = isLenient
        self.memory = memory
        self.frames = frames
        self.formatHint = formatHint
        self.isLazy = isLazy
        self.colour = colour
        // A background that has no effect is dropped, so that equivalent forms are equal.
        self.background = format.hasAlpha ? 0 : background & 0xff_ffff
    }

    /// This form without functions of the application, equal to it: for a picture that is made already, and would
    /// otherwise keep the application's data.
    var withoutFunctions: DecodeOptions {
        guard let transforms, transforms.hasFunctions else { return self }
        var form = self
        form.transforms = transforms.withoutFunctions
        return form
    }

    /// This form for an image without the original's bytes: they are dropped if the picture is resized or transformed.
    package var withOwnBytesAlone: DecodeOptions {
        var form = self
        form.keepsBytes = size == .none && transforms == nil
        return form
    }

    /// Whether decoded pixels of the form `other` satisfy a request for this form, even if `other` is lazy.
    package func isServedReady(by other: DecodeOptions) -> Bool {
        var eager = other
        eager.isLazy = isLazy
        return isServed(by: eager)
    }

    /// True if the pixels go to memory that the application has lent.
    package var isCallers: Bool { if case .caller = memory.owner { true } else { false } }

    /// This form without memory lent by the application.
    package var ofTheLibrary: DecodeOptions {
        var form = self
        form.memory = memory.forPreview
        return form
    }

    /// True if the options of the form agree: memory lent by the application is written at once, and a transformed
    /// picture is made at once, in the library's own memory.
    package var isPossible: Bool {
        if isLazy && isCallers { return false }
        return transforms == nil || (!isLazy && memory.owner == .library)
    }

    /// Replaces a case of `colour` that says the same as another.
    package mutating func resolveColour(forLoad isLoad: Bool) {
        if let resolved = colour.resolved(forLoad: isLoad) { colour = resolved }
    }

    /// This form with its colours resolved.
    package func coloured(forLoad isLoad: Bool) -> DecodeOptions {
        var form = self
        form.resolveColour(forLoad: isLoad)
        return form
    }

    /// The treatment of an animation after `transformsAnimated` is taken into account.
    var framesLeft: Frames { transforms != nil && transformsAnimated ? .firstOnly : frames }

    /// Whether an image of the form `other` satisfies a request for this form. A decoded image also serves a lazy
    /// request.
    package func isServed(by other: DecodeOptions) -> Bool {
        var other = other
        other.keepsBytes = keepsBytes
        if self == other { return true }
        other.isLazy = true
        return self == other
    }

    /// Whether the picture is shown with the sides of the stored picture exchanged.
    func isTurned(by orientation: Int) -> Bool { isUpright && orientation > 4 }

    /// Returns the size rule of a single frame. If all frames are preloaded, a byte limit is divided among them.
    func size(amongFrames count: Int) -> SizeRule { framesLeft == .preload ? size.divided(among: count) : size }
}
