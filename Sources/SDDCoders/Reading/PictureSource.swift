/// What a reader itself is to do for a form. Several forms may be made of what it gives. A value.
struct PictureSource {
    private let size: SizeRule
    /// A size is of the picture as it is shown: with its sides exchanged, if it is turned by a quarter.
    private let isTransposed: Bool
    /// By a quarter, whatever the size.
    private let isTurned: Bool
    private let wanted: PixelFormat
    private let memory: PixelMemory
    private let isLenient: Bool
    private let isMade: Bool

    /// - Parameters:
    ///   - isAlone: nobody wants anything else.
    ///   - isMade: the picture has the form's size already.
    init(_ form: PixelForm, isAlone: Bool, facts: ImageFacts?, isMade: Bool = false) {
        let orientation = facts?.orientation ?? 1
        self.isMade = isMade
        size = Self.size(form, facts, isMade)
        isTransposed = Self.isTransposed(form, orientation)
        isTurned = form.isTurned(by: orientation)
        let isDirect = isAlone && Self.isDirect(form, orientation)
        wanted = isDirect ? form.format : form.format.source
        memory = isDirect ? form.memory : .library
        isLenient = form.isLenient
    }

    func serves(_ form: PixelForm, facts: ImageFacts?) -> Bool {
        let orientation = facts?.orientation ?? 1
        return Self.size(form, facts, isMade) == size && form.isLenient == isLenient
            && Self.isTransposed(form, orientation) == isTransposed
            && (isSource(of: form) || isJust(form, orientation))
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

    /// Of what the reader makes, about.
    var bytesPerPixel: Int { wanted.source.bytesPerPixel }

    func task(_ limits: DecodeLimits) -> DecodeTask {
        DecodeTask(wanted: wanted, memory: memory, limits: limits, isLenient: isLenient) { self.plan($0, $1) }
    }

    /// Of the picture as it is shown.
    func shownSize(_ facts: ImageFacts, _ limits: DecodeLimits) throws(CoderError) -> (width: Int, height: Int) {
        let plan = plan(facts.width, facts.height)
        try PixelBuffer.check(plan, maxPixels: limits.maxPixels)
        return isTurned ? (plan.height, plan.width) : (plan.width, plan.height)
    }

    func plan(_ width: Int, _ height: Int) -> SizePlan {
        size.plan(width: width, height: height, isTransposed: isTransposed)
    }
}
