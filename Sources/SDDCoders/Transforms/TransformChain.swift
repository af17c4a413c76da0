import SDDBase

/// Transforms that are applied in order. Chains with the same key are equal. Immutable, and stored as one reference in
/// each form. Callable from any thread.
package final class TransformChain: Hashable, Sendable {
    package let transforms: [PictureTransform]
    /// The keys of all transforms, joined by "-"; "" for an empty chain.
    package let key: String

    package init(_ transforms: [PictureTransform] = []) {
        self.transforms = transforms
        key = transforms.map { $0.key }.joined(separator: "-")
    }

    var hasFunctions: Bool {
        transforms.contains { if case .custom = $0 { true } else { false } }
    }

    /// An equal chain whose functions of the application fail.
    var withoutFunctions: TransformChain {
        TransformChain(
            transforms.map { transform in
                if case .custom(let key, _) = transform { .custom(key: key) { _ in nil } } else { transform }
            })
    }

    package static func == (a: TransformChain, b: TransformChain) -> Bool { a === b || a.key.hasSameBytes(as: b.key) }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }

    /// Applies the transforms.
    /// - Parameter maxPixels: largest number of pixels of an enlarged picture.
    /// - Returns: the same buffer if the pixels stay as they are.
    package func apply(to pixels: PixelBuffer, maxPixels: Int = .max) throws(TransformError) -> PixelBuffer {
        var pixels = pixels
        for transform in transforms { pixels = try apply(transform, to: pixels, maxPixels: maxPixels) }
        return pixels
    }

    /// Returns how many more pixels than the original the largest intermediate or final picture has. Pictures from the
    /// application's functions are not counted, since their size is unknown.
    func growth(ofWidth width: Int, height: Int) -> Int {
        var (width, height, most) = (width, height, 0)
        let (before, isHuge) = width.multipliedReportingOverflow(by: height)
        if isHuge { return 0 }
        for transform in transforms {
            switch transform {
            case .resize, .turn:
                (width, height) = transform.madeSize(ofWidth: max(width, 1), height: max(height, 1)) ?? (width, height)
            case .crop(_, _, let cutWidth, let cutHeight):
                (width, height) = (min(width, cutWidth), min(height, cutHeight))
            case .rotate(let turns): if turns != .two { (width, height) = (height, width) }
            case .flip, .roundCorners, .border, .tint, .blur, .custom: break
            }
            let (count, isTooLarge) = width.multipliedReportingOverflow(by: height)
            most = max(most, isTooLarge ? .max : count)
        }
        return max(0, most - before)
    }

    private func apply(
        _ transform: PictureTransform, to pixels: PixelBuffer, maxPixels: Int
    ) throws(TransformError) -> PixelBuffer {
        if let size = transform.madeSize(ofWidth: pixels.width, height: pixels.height),
            !PixelBuffer.mayBeMade(size.width, size.height, maxPixels: maxPixels)
        {
            throw .tooLarge(width: size.width, height: size.height)
        }
        if transform.hasNoEffect { return pixels }
        do throws(CoderError) {
            switch transform {
            case .resize(let size): return try pixels.resized(size)
            case .crop(let x, let y, let width, let height):
                if let moves = PixelMoves(croppingAt: x, y, width, height, of: pixels) { return try moves.make() }
            case .flip(let flip): return try PixelMoves(flipping: flip, pixels).make()
            case .rotate(let turns): return try PixelMoves(rotating: turns, pixels).make()
            case .roundCorners(let radius, let corners):
                return try pixels.withRoundCorners(radius: radius, corners)
            case .turn(let rotation):
                if let turns = rotation.quarterTurns(ofWidth: pixels.width, height: pixels.height) {
                    return try PixelMoves(rotating: turns, pixels).make()
                }
                return try pixels.turned(by: rotation)
            case .border(let border): return try pixels.withBorder(border)
            case .tint(let colour): return try pixels.tinted(colour)
            case .blur(let deviation): return try pixels.blurred(deviation)
            case .custom(_, let function):
                if let made = function(pixels) { return made }
            }
        } catch {
            throw .noMemory
        }
        // A transform that reaches this point gave no pixels.
        if case .custom = transform { throw .refused }
        throw .outside
    }
}

extension PictureTransform {
    /// True if the transform leaves every pixel as it is. Drawing it would round those of some formats.
    fileprivate var hasNoEffect: Bool {
        switch self {
        case .roundCorners(let radius, let corners): radius <= 0 || corners.isEmpty
        case .border(let border): border.width <= 0 || border.colour.isClear
        case .tint(let colour): colour.isClear
        case .blur(let deviation): deviation <= 0
        case .resize, .crop, .flip, .rotate, .turn, .custom: false
        }
    }

    /// The size of a picture that the transform scales or turns by an angle; `nil` if it makes none, or is another one.
    fileprivate func madeSize(ofWidth width: Int, height: Int) -> (width: Int, height: Int)? {
        switch self {
        case .resize(let size):
            let plan = size.plan(width: width, height: height)
            return plan.isWhole ? nil : (plan.width, plan.height)
        case .turn(let rotation):
            let turning = PixelTurning(rotation, width: width, height: height)
            return (turning.width, turning.height)
        default: return nil
        }
    }
}
