/// Transforms, done one after the other. A value; any thread.
package struct TransformChain: Sendable {
    package let transforms: [PictureTransform]

    package init(_ transforms: [PictureTransform] = []) { self.transforms = transforms }

    /// The keys of all, joined by "-"; "" for none.
    package var key: String {
        var key = ""
        for transform in transforms { key += (key.isEmpty ? "" : "-") + transform.key }
        return key
    }

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
