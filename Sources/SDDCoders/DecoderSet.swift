package import SDDBase

/// The decoders of one worker thread: one a format, made when the first picture of that format comes, and
/// used again for all that follow. Touched by that thread alone.
package final class DecoderSet {
    private let registry: CoderRegistry
    private var decoders: [ImageFormat: any ImageDecoding] = [:]

    package init(registry: CoderRegistry) { self.registry = registry }

    /// The picture in a whole body, whose format its first bytes tell.
    package func decode(_ bytes: Bytes, options: DecodeOptions) throws(CoderError) -> Image {
        let pictures = try decode(bytes, forms: [options.form], maxPixels: options.maxPixels)
        guard let picture = pictures.first else { throw CoderError(.unsupported) }
        return picture.image
    }

    /// The same in several forms, for which it is decoded once.
    package func decode(
        _ bytes: Bytes, forms: [PixelForm], maxPixels: Int
    ) throws(CoderError) -> [(form: PixelForm, image: Image)] {
        guard bytes.count > 0 else { throw CoderError(.empty) }
        guard let format = ImageFormat(sniffing: bytes) else { throw CoderError(.unknownFormat) }
        let orientation = forms.contains { $0.isUpright } ? Self.orientation(of: bytes) : 1
        let wanted = orientation == 1 && forms.count == 1 ? forms[0].format : .rgba8
        let stored = try decoder(for: format).decode(bytes, wanted: wanted, maxPixels: maxPixels)
        var pictures: [(form: PixelForm, image: Image)] = []
        for form in forms {
            // The decoder may have written what is wanted, or else RGBA8.
            let isDone = stored.format == form.format && wanted == form.format && orientation == 1
            let pixels = isDone ? stored : try PixelForming(stored, to: form, orientation: orientation).make()
            pictures.append((form, Image(pixels: pixels, format: format, bytes: bytes)))
        }
        return pictures
    }

    private static func orientation(of bytes: Bytes) -> Int {
        do throws(ImageFacts.Failure) { return try ImageFacts(of: bytes.pointer).orientation } catch { return 1 }
    }

    private func decoder(for format: ImageFormat) throws(CoderError) -> any ImageDecoding {
        if let decoder = decoders[format] { return decoder }
        guard let coder = registry.coder(for: format) else { throw CoderError(.unknownFormat) }
        let decoder = try coder.makeDecoder()
        decoders[format] = decoder
        return decoder
    }
}
