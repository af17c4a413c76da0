package import SDDBase

/// The decoders of one worker thread: one a format, made when the first picture of that format comes, and
/// used again for all that follow. Touched by that thread alone.
package final class DecoderSet {
    private let registry: CoderRegistry
    private var decoders: [ImageFormat: any ImageDecoding] = [:]

    package init(registry: CoderRegistry) { self.registry = registry }

    /// The picture in a whole body, whose format its first bytes tell, in each of the forms. It is decoded once for each
    /// size.
    package func decode(
        _ bytes: Bytes, forms: [PixelForm], limits: DecodeLimits
    ) throws(CoderError) -> [(form: PixelForm, image: Image)] {
        guard bytes.count > 0 else { throw CoderError(.empty) }
        guard let format = ImageFormat(sniffing: bytes) else { throw CoderError(.unknownFormat) }
        let decoder = try decoder(for: format)
        let facts = Self.facts(of: bytes)
        let orientation = facts?.orientation ?? 1
        var stored: [(source: Source, pixels: PixelBuffer)] = []
        var pictures: [(form: PixelForm, image: Image)] = []
        for form in forms {
            let source = Source(form, among: forms, orientation: orientation)
            let pixels: PixelBuffer
            if let made = stored.first(where: { $0.source == source }) {
                pixels = made.pixels
            } else {
                pixels = try decoder.decode(
                    bytes, DecodeTask(wanted: source.wanted, limits: limits) { source.plan($0, $1) })
                stored.append((source, pixels))
            }
            let made = try PixelForming(pixels, to: form, orientation: orientation).make()
            pictures.append((form, Image(pixels: made, format: format, bytes: bytes, facts: facts, form: form)))
        }
        return pictures
    }

    /// What the decoder itself is to do for a form. Several may have one.
    private struct Source: Equatable {
        let size: SizeRule
        /// A size is of the picture as it is shown: with its sides exchanged, if it is turned by a quarter.
        let isTransposed: Bool
        let wanted: PixelFormat

        init(_ form: PixelForm, among forms: [PixelForm], orientation: Int) {
            let orientation = form.isUpright ? orientation : 1
            size = form.size
            isTransposed = orientation > 4 && size != .none
            // Directly what is wanted, if nobody wants anything else.
            wanted = forms.count == 1 && orientation == 1 ? form.format : .rgba8
        }

        func plan(_ width: Int, _ height: Int) -> SizePlan {
            isTransposed
                ? size.plan(width: height, height: width).transposed : size.plan(width: width, height: height)
        }
    }

    private static func facts(of bytes: Bytes) -> ImageFacts? {
        do throws(ImageFacts.Failure) { return try ImageFacts(of: bytes.pointer) } catch { return nil }
    }

    private func decoder(for format: ImageFormat) throws(CoderError) -> any ImageDecoding {
        if let decoder = decoders[format] { return decoder }
        guard let coder = registry.coder(for: format) else { throw CoderError(.unknownFormat) }
        let decoder = try coder.makeDecoder()
        decoders[format] = decoder
        return decoder
    }
}
