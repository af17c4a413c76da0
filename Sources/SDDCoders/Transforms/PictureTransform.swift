/// A transform of a decoded picture. A value; the other files of this folder implement it.
package enum PictureTransform: Sendable {
    /// Resizes the picture; enlarges it only if the rule says so.
    case resize(SizeRule)
    /// Crops the picture to a rectangle.
    case crop(x: Int, y: Int, width: Int, height: Int)
    case flip(Flip)
    case rotate(QuarterTurns)
    /// Rotates by an angle that is no quarter turn. The result has alpha, even if the picture had none.
    case turn(Rotation)
    /// Rounds the corners, by at most half of the shorter side. Round corners have alpha, even if the picture had none.
    case roundCorners(radius: Int, Corners)
    case border(Border)
    /// Mixes the colours with one, as far as it is opaque.
    case tint(Colour)
    /// Blurs the picture; the number is the standard deviation in pixels.
    case blur(Int)
    /// Calls a function of the application; it fails if that returns `nil`. The application chooses the key.
    case custom(key: String, @Sendable (PixelBuffer) -> PixelBuffer?)

    /// The raw values are SDD_FLIP_ of the C header.
    package struct Flip: OptionSet, Hashable, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// Exchanges left and right.
        package static let horizontal = Flip(rawValue: 1)
        /// Exchanges top and bottom.
        package static let vertical = Flip(rawValue: 2)
        package static let both: Flip = [.horizontal, .vertical]
    }

    /// Clockwise rotation in degrees.
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

    /// A colour, not multiplied by alpha.
    package struct Colour: Sendable {
        /// 0xAARRGGBB.
        package let argb: UInt32
        package init(argb: UInt32) { self.argb = argb }

        var isClear: Bool { argb >> 24 == 0 }

        /// Eight hexadecimal digits, those of alpha first.
        fileprivate var text: String {
            let digits = String(argb, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }
    }

    /// A line along the inside of the edges, and of the quarter circles that rounding these corners leaves.
    package struct Border: Sendable {
        /// Pixels; at most to the middle.
        package let width: Int
        package let colour: Colour
        package let radius: Int
        package let corners: Corners

        package init(width: Int, _ colour: Colour, radius: Int, _ corners: Corners) {
            (self.width, self.colour, self.radius, self.corners) = (width, colour, radius, corners)
        }
    }

    /// Key that identifies the transform. The names of stored pictures contain it, so it never changes.
    package var key: String {
        switch self {
        case .resize(let size):
            "resize(\(size.width),\(size.height),\(size.fit.name)\(size.allowsEnlarging ? ",enlarge" : ""))"
        case .crop(let x, let y, let width, let height): "crop(\(x),\(y),\(width),\(height))"
        case .flip(let flip): flip == .both ? "flip(both)" : flip == .vertical ? "flip(vertical)" : "flip(horizontal)"
        case .rotate(let turns): "rotate(\(turns.rawValue))"
        case .turn(let rotation): "rotate(\(rotation.text)\(rotation.keepsSize ? ",keep" : ""))"
        case .roundCorners(let radius, let corners): "round(\(radius),\(corners.rawValue))"
        case .border(let border):
            "border(\(border.width),\(border.colour.text),\(border.radius),\(border.corners.rawValue))"
        case .tint(let colour): "tint(\(colour.text))"
        case .blur(let deviation): "blur(\(deviation))"
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

/// The reason why a transform gave no pixels.
package enum TransformError: Error, Equatable {
    case noMemory
    /// The rectangle does not overlap the picture.
    case outside
    /// The result would have more pixels than allowed.
    case tooLarge(width: Int, height: Int)
    /// The application's function returned nothing.
    case refused
}
