/// How large a picture is to be made; larger than it is only where that is asked for.
package struct SizeRule: Hashable, Sendable {
    /// The raw values are SDD_FIT_ of the C header.
    package enum Fit: Int32, Sendable {
        /// As large as fits, all of it.
        case inside = 0
        /// Just so large, of its middle; what sticks out is cut off.
        case fill = 1
        /// Just so large, its sides apart.
        case stretch = 2
    }

    /// In pixels of the picture as it is shown; 0: any.
    package let width: Int
    package let height: Int
    package let fit: Fit
    /// At 4 bytes a pixel; 0: any. Beats the others.
    package let byteLimit: Int64
    /// A size is come to also from below; a limit in bytes never is.
    package let allowsEnlarging: Bool
    /// Made of all pixels as stored, whatever the decoder could leave out.
    package let isExact: Bool

    package init(
        width: Int = 0, height: Int = 0, fit: Fit = .inside, byteLimit: Int64 = 0, allowsEnlarging: Bool = false,
        isExact: Bool = false
    ) {
        // What does not matter is equal for all.
        let isLimited = byteLimit > 0
        self.width = isLimited ? 0 : max(width, 0)
        self.height = isLimited ? 0 : max(height, 0)
        let isSized = !isLimited && (width > 0 || height > 0)
        self.fit = isSized ? fit : .inside
        self.allowsEnlarging = isSized && allowsEnlarging
        self.byteLimit = max(byteLimit, 0)
        self.isExact = (isLimited || isSized) && isExact
    }

    package static let none = SizeRule()

    /// Of the picture as stored, which is shown with its sides exchanged.
    func plan(width: Int, height: Int, isTransposed: Bool) -> SizePlan {
        isTransposed ? plan(width: height, height: width).transposed : plan(width: width, height: height)
    }

    /// A limit in bytes is one for all frames together (row C9).
    func divided(among frames: Int) -> SizeRule {
        guard byteLimit > 0, frames > 1 else { return self }
        return SizeRule(byteLimit: max(4, byteLimit / Int64(frames)), isExact: isExact)
    }

    /// For a picture of that size, at least 1 x 1.
    package func plan(width: Int, height: Int) -> SizePlan {
        if byteLimit > 0 { return limited(width: width, height: height) }
        let sides = (side(self.width, of: width), side(self.height, of: height))
        let scaleX = self.width > 0 ? Double(self.width) / Double(width) : .infinity
        let scaleY = self.height > 0 ? Double(self.height) / Double(height) : .infinity
        let (smaller, larger) = (min(scaleX, scaleY), max(scaleX, scaleY))
        switch fit {
        case .stretch: return SizePlan(ofWidth: width, height: height, madeWidth: sides.0, height: sides.1)
        case .fill where self.width > 0 && self.height > 0:
            let scale = allowsEnlarging ? larger : min(1, larger)
            return SizePlan(ofWidth: width, height: height, middleAt: scale, sides)
        case .inside, .fill:
            let scale = allowsEnlarging ? smaller : min(1, smaller)
            return SizePlan(
                ofWidth: width, height: height, madeWidth: Self.scaled(width, by: scale),
                height: Self.scaled(height, by: scale))
        }
    }

    private func side(_ wanted: Int, of side: Int) -> Int {
        guard wanted > 0 else { return side }
        return allowsEnlarging ? wanted : min(wanted, side)
    }

    private static func scaled(_ side: Int, by scale: Double) -> Int { max(1, Int((Double(side) * scale).rounded())) }

    /// Row C9: the width from the area, the height from the width, both rounded down.
    private func limited(width: Int, height: Int) -> SizePlan {
        let pixels = Double(byteLimit / 4)
        guard Double(width) * Double(height) > pixels else {
            return SizePlan(ofWidth: width, height: height, madeWidth: width, height: height)
        }
        let ratio = Double(width) / Double(height)
        let madeWidth = max(1, min(width, Int((pixels * ratio).squareRoot())))
        let madeHeight = max(1, min(height, Int(Double(madeWidth) / ratio)))
        return SizePlan(ofWidth: width, height: height, madeWidth: madeWidth, height: madeHeight)
    }
}

/// What is to be made of a picture: `width` x `height` pixels, of the part of it that begins at `x`, `y`. All of that
/// in the picture's own pixels.
package struct SizePlan: Equatable {
    package private(set) var x = 0.0
    package private(set) var y = 0.0
    package private(set) var partWidth: Double
    package private(set) var partHeight: Double
    package private(set) var width: Int
    package private(set) var height: Int
    /// Nothing is to be done.
    package let isWhole: Bool

    /// Of the whole picture.
    init(ofWidth pictureWidth: Int, height pictureHeight: Int, madeWidth: Int, height madeHeight: Int) {
        partWidth = Double(pictureWidth)
        partHeight = Double(pictureHeight)
        width = madeWidth
        height = madeHeight
        isWhole = madeWidth == pictureWidth && madeHeight == pictureHeight
    }

    /// Of its middle.
    init(ofWidth pictureWidth: Int, height pictureHeight: Int, middleAt scale: Double, _ made: (Int, Int)) {
        (width, height) = made
        partWidth = min(Double(pictureWidth), Double(made.0) / scale)
        partHeight = min(Double(pictureHeight), Double(made.1) / scale)
        x = (Double(pictureWidth) - partWidth) / 2
        y = (Double(pictureHeight) - partHeight) / 2
        // Pixels that are only cut out stay what they are.
        if scale == 1 { (x, y) = (x.rounded(.down), y.rounded(.down)) }
        isWhole = made == (pictureWidth, pictureHeight)
    }

    /// The same of the picture mirrored at its diagonal.
    var transposed: SizePlan {
        var plan = self
        (plan.x, plan.y) = (y, x)
        (plan.partWidth, plan.partHeight) = (partHeight, partWidth)
        (plan.width, plan.height) = (height, width)
        return plan
    }
}
