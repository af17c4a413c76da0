/// A rule for the size of a picture. It enlarges a picture only if that is requested.
package struct SizeRule: Hashable, Sendable {
    /// The raw values are SDD_FIT_ of the C header.
    package enum Fit: Int32, Sendable {
        /// The whole picture, as large as fits into the size.
        case inside = 0
        /// Exactly the size, from the middle of the picture; the rest is cropped.
        case fill = 1
        /// Exactly the size, without keeping the aspect ratio.
        case stretch = 2
    }

    /// Size in pixels of the picture as it is shown; 0 leaves a side free.
    package let width: Int
    package let height: Int
    package let fit: Fit
    /// Largest size in bytes, at 4 bytes per pixel; 0 means no limit. Overrides the other properties.
    package let byteLimit: Int64
    /// True if a smaller picture is enlarged to the size. A limit in bytes never enlarges.
    package let allowsEnlarging: Bool
    /// True if the picture is made from all stored pixels, even those that the decoder could skip for a smaller size.
    package let isExact: Bool

    package init(
        width: Int = 0, height: Int = 0, fit: Fit = .inside, byteLimit: Int64 = 0, allowsEnlarging: Bool = false,
        isExact: Bool = false
    ) {
        // Properties that have no effect get fixed values, so that equivalent rules are equal.
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

    /// The length that both sides of a picture reduced with its aspect ratio must have at least for the rule; 0 if all of
    /// the picture is needed. A free side stays as long as it is if the other one is stretched.
    var neededSide: Int { fit == .stretch && min(width, height) == 0 ? 0 : max(width, height) }

    /// Returns the plan for a stored picture. `isTransposed` says that it is shown with its sides exchanged.
    func plan(width: Int, height: Int, isTransposed: Bool) -> SizePlan {
        isTransposed ? plan(width: height, height: width).transposed : plan(width: width, height: height)
    }

    /// Returns the rule for each of several frames. A limit in bytes applies to all frames together (row C9).
    func divided(among frames: Int) -> SizeRule {
        guard byteLimit > 0, frames > 1 else { return self }
        return SizeRule(byteLimit: max(4, byteLimit / Int64(frames)), isExact: isExact)
    }

    /// Returns the plan for a picture of that size; at least 1 x 1.
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

    /// Plans for a limit in bytes (row C9): the width from the area, the height from the width, both rounded down.
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

/// The plan for one picture: `width` x `height` pixels, made from the part of it that begins at `x`, `y`. The part is
/// given in the picture's own pixels.
package struct SizePlan: Equatable {
    package private(set) var x = 0.0
    package private(set) var y = 0.0
    package private(set) var partWidth: Double
    package private(set) var partHeight: Double
    package private(set) var width: Int
    package private(set) var height: Int
    /// True if the picture stays as it is.
    package let isWhole: Bool

    /// Plans a picture made from the whole of another.
    init(ofWidth pictureWidth: Int, height pictureHeight: Int, madeWidth: Int, height madeHeight: Int) {
        partWidth = Double(pictureWidth)
        partHeight = Double(pictureHeight)
        width = madeWidth
        height = madeHeight
        isWhole = madeWidth == pictureWidth && madeHeight == pictureHeight
    }

    /// Plans a picture made from the middle of another, at a scale.
    init(ofWidth pictureWidth: Int, height pictureHeight: Int, middleAt scale: Double, _ made: (Int, Int)) {
        (width, height) = made
        partWidth = min(Double(pictureWidth), Double(made.0) / scale)
        partHeight = min(Double(pictureHeight), Double(made.1) / scale)
        x = (Double(pictureWidth) - partWidth) / 2
        y = (Double(pictureHeight) - partHeight) / 2
        // Pixels that are only cropped stay unchanged.
        if scale == 1 { (x, y) = (x.rounded(.down), y.rounded(.down)) }
        isWhole = made == (pictureWidth, pictureHeight)
    }

    /// The plan for the picture mirrored at its diagonal.
    var transposed: SizePlan {
        var plan = self
        (plan.x, plan.y) = (y, x)
        (plan.partWidth, plan.partHeight) = (partHeight, partWidth)
        (plan.width, plan.height) = (height, width)
        return plan
    }
}
