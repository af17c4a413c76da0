/// One thing to be done to a decoded picture. A value; what it does is in `PixelMoving`, `PixelResizing` and
/// `CornerRounding`.
package enum PictureTransform: Sendable {
    /// Made smaller; larger only where the rule says so.
    case resize(SizeRule)
    /// The part of the picture that lies in the rectangle.
    case crop(x: Int, y: Int, width: Int, height: Int)
    case flip(Flip)
    case rotate(QuarterTurns)
    /// As much as half the shorter side, if `radius` is more. Where there was no alpha, there is afterwards.
    case roundCorners(radius: Int, Corners)
    /// What the host's own function makes of it; nil: nothing. Its key is the host's.
    case custom(key: String, @Sendable (PixelBuffer) -> PixelBuffer?)

    /// The raw values are SDD_FLIP_ of the C header.
    package struct Flip: OptionSet, Hashable, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// Left and right change places.
        package static let horizontal = Flip(rawValue: 1)
        /// Top and bottom do.
        package static let vertical = Flip(rawValue: 2)
        package static let both: Flip = [.horizontal, .vertical]
    }

    /// Clockwise.
    package enum QuarterTurns: Int, Sendable, CaseIterable {
        case one = 90
        case two = 180
        case three = 270
    }

    /// The raw values are SDD_CORNER_ of the C header.
    package struct Corners: OptionSet, Hashable, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }

        package static let topLeft = Corners(rawValue: 1)
        package static let topRight = Corners(rawValue: 2)
        package static let bottomLeft = Corners(rawValue: 4)
        package static let bottomRight = Corners(rawValue: 8)
        package static let all: Corners = [.topLeft, .topRight, .bottomLeft, .bottomRight]
    }

    /// Tells it from every other. Names of stored pictures are made of these: they never change.
    package var key: String {
        switch self {
        case .resize(let size):
            "resize(\(size.width),\(size.height),\(size.fit.name)\(size.allowsEnlarging ? ",enlarge" : ""))"
        case .crop(let x, let y, let width, let height): "crop(\(x),\(y),\(width),\(height))"
        case .flip(let flip): flip == .both ? "flip(both)" : flip == .vertical ? "flip(vertical)" : "flip(horizontal)"
        case .rotate(let turns): "rotate(\(turns.rawValue))"
        case .roundCorners(let radius, let corners): "round(\(radius),\(corners.rawValue))"
        case .custom(let key, _): key
        }
    }
}

extension SizeRule.Fit {
    fileprivate var name: String {
        switch self {
        case .inside: "inside"
        case .fill: "fill"
        case .stretch: "stretch"
        }
    }
}

/// Why a transform gave no pixels.
package enum TransformError: Error, Equatable {
    case noMemory
    /// Nothing of the picture lies in the rectangle.
    case outside
    /// It would have more pixels than it may.
    case tooLarge(width: Int, height: Int)
    /// The host's function gave nothing.
    case refused
}
