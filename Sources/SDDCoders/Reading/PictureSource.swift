/// The parameters of one reader, whose pixels can serve several forms. A value.
struct PictureSource {
    /// The part of a form that is the same in all forms that a source serves.
    struct Key: Hashable {
        let size: SizeRule
        /// True if the sides of `size` are exchanged in the stored picture: a size applies to the picture as it is
        /// shown, which may be turned by a quarter.
        let isTransposed: Bool
        let isLenient: Bool
        /// True if the pixels are converted to sRGB, which changes them.
        let isConverted: Bool
        /// True if the first frame of the animation is shown in place of the still picture.
        let isOfFrame: Bool

        init(_ form: DecodeOptions, facts: ImageFacts?, isMade: Bool) {
            size = PictureSource.size(form, facts, isMade)
            isTransposed = PictureSource.isTransposed(form, facts?.orientation ?? 1)
            isLenient = form.isLenient
            isConverted = form.colour == .sRGB && facts?.isNoted != true && facts?.colour?.isConvertible == true
            isOfFrame = facts?.hidesStill == true && form.frames != .still
        }
    }

    let key: Key
    /// True if the picture is turned by a quarter, with any size.
    private let isTurned: Bool
    private let wanted: PixelFormat
    /// True if the reader's pixels have 16 bits a channel, of which 8 are left after the conversion to sRGB.
    let narrows: Bool
    /// True if an installed coder converts the pixels, from four inks or from RGBA8.
    private let needsEngine: Bool
    private let keepsInks: Bool
    private let memory: PixelMemory
    private let isMade: Bool
    /// True for a whole progressive JPEG whose scans have been found to be complete. The reader then leaves out scans
    /// that the size does not need, and their coefficients take no memory.
    var dropsScans = false

    /// - Parameters:
    ///   - isAlone: true if no other form is wanted.
    ///   - isMade: true if the picture has the form's size already.
    init(_ form: DecodeOptions, isAlone: Bool, facts: ImageFacts?, isMade: Bool = false) {
        let orientation = facts?.orientation ?? 1
        self.isMade = isMade
        key = Key(form, facts: facts, isMade: isMade)
        isTurned = form.isTurned(by: orientation)
        // With 8 bits dark colours would be converted from few levels to many.
        let isDeep =
            key.isConverted && facts?.format == .png && facts?.depth == 16 && facts?.colour?.needsEngine != true
        narrows = isDeep && form.format.source == .rgba8
        needsEngine = key.isConverted && facts?.colour?.needsEngine == true
        keepsInks = needsEngine && facts?.colour?.kind == .inks
        let isDirect = isAlone && !narrows && !needsEngine && Self.isDirect(form, orientation)
        wanted = isDirect ? form.format : needsEngine ? .rgba8 : narrows ? .rgba16 : form.format.source
        memory = isDirect ? form.memory : .library
    }

    func serves(_ form: DecodeOptions, facts: ImageFacts?) -> Bool {
        Key(form, facts: facts, isMade: isMade) == key && isEnough(for: form, facts)
    }

    /// Whether the pixels serve a form of the same key.
    func isEnough(for form: DecodeOptions, _ facts: ImageFacts?) -> Bool {
        isSource(of: form) || isJust(form, facts?.orientation ?? 1)
    }

    /// A picture that was made by transforms may have any size. One that was only resized keeps its own.
    private static func size(_ form: DecodeOptions, _ facts: ImageFacts?, _ isMade: Bool) -> SizeRule {
        isMade && form.transforms != nil ? .none : form.size(amongFrames: facts?.frameCount ?? 1)
    }

    private func isJust(_ form: DecodeOptions, _ orientation: Int) -> Bool {
        wanted == form.format && memory == form.memory && Self.isDirect(form, orientation)
    }

    /// Whether the form can be made from the reader's pixels. They must be in the library's own memory, since the
    /// application's memory is available only as long as the request that provided it.
    private func isSource(of form: DecodeOptions) -> Bool {
        let made = narrows ? .rgba8 : wanted
        return (needsEngine || made == form.format.source) && memory.owner == .library
    }

    /// Whether the reader can write the form's pixels without a conversion.
    private static func isDirect(_ form: DecodeOptions, _ orientation: Int) -> Bool {
        !form.isUpright || orientation == 1
    }

    private static func isTransposed(_ form: DecodeOptions, _ orientation: Int) -> Bool {
        form.isTurned(by: orientation) && form.size != .none
    }

    /// True if the reader's pixels have 16 bits a channel.
    var isDeep: Bool { wanted.source == .rgba16 }

    /// Approximate number of bytes of each pixel that the reader makes.
    var bytesPerPixel: Int { wanted.source.bytesPerPixel + (narrows ? 4 : 0) }

    func task(_ limits: DecodeLimits) -> DecodeTask {
        DecodeTask(
            wanted: wanted, memory: memory, limits: limits, isLenient: key.isLenient, isExact: key.size.isExact,
            dropsScans: dropsScans, keepsInks: keepsInks, size: key.size, isTransposed: key.isTransposed)
    }

    /// Returns the eighths of its size to which libjpeg reduces a JPEG.
    func eighths(of facts: ImageFacts) -> Int { Self.eighths(of: facts, key) }

    static func eighths(of facts: ImageFacts, for form: DecodeOptions, isMade: Bool) -> Int {
        eighths(of: facts, Key(form, facts: facts, isMade: isMade))
    }

    @inline(never)
    private static func eighths(of facts: ImageFacts, _ key: Key) -> Int {
        let plan = key.size.plan(width: facts.width, height: facts.height, isTransposed: key.isTransposed)
        return JPEGScale.eighths(ofWidth: facts.width, height: facts.height, for: plan, isExact: key.size.isExact)
    }

    /// Returns the size of the picture as it is shown.
    func shownSize(_ facts: ImageFacts, _ limits: DecodeLimits) throws(CoderError) -> (width: Int, height: Int) {
        let plan = plan(facts.width, facts.height)
        try PixelBuffer.check(plan, maxPixels: limits.maxPixels)
        return isTurned ? (plan.height, plan.width) : (plan.width, plan.height)
    }

    func plan(_ width: Int, _ height: Int) -> SizePlan {
        key.size.plan(width: width, height: height, isTransposed: key.isTransposed)
    }

    /// Bytes of the coefficients of a JPEG with several scans that the reader keeps.
    func coefficientBytes(of facts: ImageFacts) -> Int {
        dropsScans && eighths(of: facts) == 1 ? facts.coefficientBytesAtAnEighth : facts.coefficientBytes
    }
}
