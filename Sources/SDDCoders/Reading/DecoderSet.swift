package import SDDBase

/// Decodes bodies that are whole, by the coders of a registry. Any thread.
package struct DecoderSet: Sendable {
    private let registry: CoderRegistry

    package init(registry: CoderRegistry) { self.registry = registry }

    /// The library's and the process's, for what is decoded outside of any downloader.
    package static var ofProcess: DecoderSet { DecoderSet(registry: .builtIn.asking([.process])) }

    /// In one form, within the limits that hold where nothing is said.
    /// - Parameter isMade: see `PictureStream`.
    package func decode(_ bytes: Bytes, in form: PixelForm, isMade: Bool = false) throws(CoderError) -> Image {
        guard let made = try decode(bytes, forms: [form], limits: DecodeLimits(), isMade: isMade).first else {
            throw CoderError(.unsupported)
        }
        return try made.image.get()
    }

    /// The picture in a whole body, which its first bytes give to a coder, in each of the forms.
    package func decode(
        _ bytes: Bytes, forms: [PixelForm], limits: DecodeLimits, isMade: Bool = false
    ) throws(CoderError) -> [FormedPicture] {
        let stream = PictureStream(limits: limits, registry: registry, isMade: isMade)
        return try stream.read(bytes, forms: forms, isLast: true).pictures ?? []
    }
}
