package import SDDBase

/// The decoders of one worker thread: one a format, made when the first picture of that format comes, and
/// used again for all that follow. Touched by that thread alone.
package final class DecoderSet {
    private let registry: CoderRegistry
    private var decoders: [ImageFormat: any ImageDecoding] = [:]

    package init(registry: CoderRegistry) { self.registry = registry }

    /// The picture in a whole body, whose format its first bytes tell.
    package func decode(_ bytes: Bytes, options: DecodeOptions) throws(CoderError) -> Image {
        guard bytes.count > 0 else { throw CoderError(.empty) }
        guard let format = ImageFormat(sniffing: bytes) else { throw CoderError(.unknownFormat) }
        return try decoder(for: format).decode(bytes, options: options)
    }

    private func decoder(for format: ImageFormat) throws(CoderError) -> any ImageDecoding {
        if let decoder = decoders[format] { return decoder }
        guard let coder = registry.coder(for: format) else { throw CoderError(.unknownFormat) }
        let decoder = try coder.makeDecoder()
        decoders[format] = decoder
        return decoder
    }
}
