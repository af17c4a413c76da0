/// The work of a reader for a form. Several forms may be made of the pixels that it gives. A value.
struct PictureSource {
    /// The part of a form that is the same in all forms that a source serves.
    struct Key: Hashable {
        let size: SizeRule
        /// A size is of the picture as it is shown: with its sides exchanged, if it is turned by a quarter.
        let isTransposed: Bool
        let isLenient: Bool

        init(_ form: PixelForm, facts: ImageFacts?, isMade: Bool) {
            size = PictureSource.size(form, facts, isMade)
            isTransposed = PictureSource.isTransposed(form, facts?.orientation ?? 1)
            isLenient = form.isLenient
        }
    }

    let key: Key
    /// By a quarter, whatever the size.
    private let isTurned: Bool
    private let wanted: PixelFormat
    private let memory: PixelMemory
    private let isMade: Bool

    /// - Parameters:
    ///   - isAlone: nobody wants anything else.
    ///   - isMade: the picture has the form's size already.
    init(_ form: PixelForm, isAlone: Bool, facts: ImageFacts?, isMade: Bool = false) {
        let orientation = facts?.orientation ?? 1
        self.isMade = isMade
        key = Key(form, facts: facts, isMade: isMade)
        isTurned = form.isTurned(by: orientation)
        let isDirect = isAlone && Self.isDirect(form, orientation)
        wanted = isDirect ? form.format : form.format.source
        memory = isDirect ? form.memory : .library
    }

    func serves(_ form: PixelForm, facts: ImageFacts?) -> Bool {
        Key(form, facts: facts, isMade: isMade) == key
            && (isSource(of: form) || isJust(form, facts?.orientation ?? 1))
    }

    private static func size(_ form: PixelForm, _ facts: ImageFacts?, _ isMade: Bool) -> SizeRule {
        isMade ? .none : form.size(amongFrames: facts?.frameCount ?? 1)
    }

    private func isJust(_ form: PixelForm, _ orientation: Int) -> Bool {
        wanted == form.format && memory == form.memory && Self.isDirect(form, orientation)
    }

    /// Only of the library's own memory: the host's is there as long as those who brought it.
    private func isSource(of form: PixelForm) -> Bool { wanted == form.format.source && memory.owner == .library }

    /// The reader can write it as it is to be.
    private static func isDirect(_ form: PixelForm, _ orientation: Int) -> Bool { !form.isUpright || orientation == 1 }

    private static func isTransposed(_ form: PixelForm, _ orientation: Int) -> Bool {
        form.isTurned(by: orientation) && form.size != .none
    }

    /// Bytes of each pixel that the reader makes, about.
    var bytesPerPixel: Int { wanted.source.bytesPerPixel }

    func task(_ limits: DecodeLimits) -> DecodeTask {
        DecodeTask(wanted: wanted, memory: memory, limits: limits, isLenient: key.isLenient, isExact: key.size.isExact)
        {
            self.plan($0, $1)
        }
    }

    /// The size of the picture as it is shown.
    func shownSize(_ facts: ImageFacts, _ limits: DecodeLimits) throws(CoderError) -> (width: Int, height: Int) {
        let plan = plan(facts.width, facts.height)
        try PixelBuffer.check(plan, maxPixels: limits.maxPixels)
        return isTurned ? (plan.height, plan.width) : (plan.width, plan.height)
    }

    func plan(_ width: Int, _ height: Int) -> SizePlan {
        key.size.plan(width: width, height: height, isTransposed: key.isTransposed)
    }
}
