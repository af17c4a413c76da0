package import SDDBase

/// Decodes whole bodies with the coders of a registry. Callable from any thread.
package struct DecoderSet: Sendable {
    private let registry: CoderRegistry

    package init(registry: CoderRegistry) { self.registry = registry }

    /// The coders of the library and of the process, for pictures that no downloader decodes.
    package static var ofProcess: DecoderSet { DecoderSet(registry: .ofProcess) }

    /// Decodes a picture in one form, with the default limits.
    /// - Parameter isMade: see `PictureStream`.
    package func decode(_ bytes: Bytes, in form: DecodeOptions, isMade: Bool = false) throws(CoderError) -> Image {
        guard let made = try decode(bytes, forms: [form], limits: DecodeLimits(), isMade: isMade).first else {
            throw CoderError(.unsupported)
        }
        return try made.image.get()
    }

    /// Decodes a whole body in each of the forms, with the coder that its first bytes select.
    package func decode(
        _ bytes: Bytes, forms: [DecodeOptions], limits: DecodeLimits, isMade: Bool = false
    ) throws(CoderError) -> [FormedPicture] {
        let stream = PictureStream(limits: limits, registry: registry, isMade: isMade)
        return try stream.read(bytes, forms: forms, isLast: true).pictures ?? []
    }
}
