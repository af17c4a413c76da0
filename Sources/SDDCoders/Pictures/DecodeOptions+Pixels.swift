// The steps that make pixels, with a form in place of its parts.

extension PixelConverter {
    /// - Parameters:
    ///   - memory: used instead of the form's own.
    ///   - orientation: Exif orientation, 1 to 8; ignored if the form is not upright.
    init(_ source: PixelBuffer, to form: DecodeOptions, in memory: PixelMemory? = nil, orientation: Int) {
        self.init(
            source, to: form.format, background: form.background, in: memory ?? form.memory,
            orientation: form.isUpright ? orientation : 1)
    }
}

extension TransformChain {
    /// Applies the transforms for a form; the result is in the form's own format and memory.
    func apply(to pixels: PixelBuffer, as form: DecodeOptions, maxPixels: Int) throws(CoderError) -> PixelBuffer {
        let made = try applyDecoding(to: pixels, maxPixels: maxPixels)
        // The application's function may return any format, and round corners need alpha.
        let source = made.format == form.format ? made : try made.straightCopy(isNarrow: form.format.source == .rgba8)
        return try PixelConverter(source, to: form, orientation: 1).make()
    }

    private func applyDecoding(to pixels: PixelBuffer, maxPixels: Int) throws(CoderError) -> PixelBuffer {
        do throws(TransformError) {
            return try apply(to: pixels, maxPixels: maxPixels)
        } catch {
            switch error {
            case .noMemory: throw CoderError(.noMemory)
            case .outside: throw CoderError(.transform, "a crop has nothing of the picture")
            case .tooLarge(let width, let height):
                throw CoderError(.tooManyPixels, "enlarged to \(width) x \(height) pixels")
            case .refused: throw CoderError(.transform, "the application's function returned no picture")
            }
        }
    }
}
