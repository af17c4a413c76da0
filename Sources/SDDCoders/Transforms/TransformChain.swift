/// Transforms, done one after the other; the same as others of the same key. Immutable, and one reference in the forms
/// that have it. Any thread.
package final class TransformChain: Hashable, Sendable {
    package let transforms: [PictureTransform]
    /// The keys of all, joined by "-"; "" for none.
    package let key: String

    package init(_ transforms: [PictureTransform] = []) {
        self.transforms = transforms
        key = transforms.map { $0.key }.joined(separator: "-")
    }

    package static func == (a: TransformChain, b: TransformChain) -> Bool { a === b || a.key == b.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }

    /// - Returns: the very same pixels where nothing is to be done to them.
    package func apply(to pixels: PixelBuffer) throws(TransformError) -> PixelBuffer {
        var pixels = pixels
        for transform in transforms { pixels = try apply(transform, to: pixels) }
        return pixels
    }

    private func apply(_ transform: PictureTransform, to pixels: PixelBuffer) throws(TransformError) -> PixelBuffer {
        do throws(CoderError) {
            switch transform {
            case .resize(let size): return try pixels.resized(size)
            case .crop(let x, let y, let width, let height):
                if let moves = PixelMoves(croppingAt: x, y, width, height, of: pixels) { return try moves.make() }
            case .flip(let flip): return try PixelMoves(flipping: flip, pixels).make()
            case .rotate(let turns): return try PixelMoves(rotating: turns, pixels).make()
            case .roundCorners(let radius, let corners):
                return try pixels.withRoundCorners(radius: radius, corners)
            case .custom(_, let function):
                if let made = function(pixels) { return made }
            }
        } catch {
            throw .noMemory
        }
        // What has not returned gave nothing.
        if case .custom = transform { throw .refused }
        throw .outside
    }
}

// MARK: - In a form

extension TransformChain {
    /// The same for a form that has these: what comes of it is in the form's own format and memory.
    func apply(to pixels: PixelBuffer, as form: PixelForm) throws(CoderError) -> PixelBuffer {
        let made = try applyDecoding(to: pixels)
        // A host's function gives what it likes, and round corners need an alpha.
        let source = made.format == form.format ? made : try made.straightCopy(isNarrow: form.format.source == .rgba8)
        return try PixelForming(source, to: form, orientation: 1).make()
    }

    private func applyDecoding(to pixels: PixelBuffer) throws(CoderError) -> PixelBuffer {
        do throws(TransformError) {
            return try apply(to: pixels)
        } catch {
            switch error {
            case .noMemory: throw CoderError(.noMemory)
            case .outside: throw CoderError(.transform, "a crop has nothing of the picture")
            case .refused: throw CoderError(.transform, "a function of the host's gave nothing")
            }
        }
    }
}
