package import SDDBase

/// Decodes bodies that are whole, by the coders of a registry. Any thread.
package struct DecoderSet: Sendable {
    private let registry: CoderRegistry

    package init(registry: CoderRegistry) { self.registry = registry }

    /// The picture in a whole body, which its first bytes give to a coder, in each of the forms.
    package func decode(
        _ bytes: Bytes, forms: [PixelForm], limits: DecodeLimits
    ) throws(CoderError) -> [FormedPicture] {
        try PictureStream(limits: limits, registry: registry).read(bytes, forms: forms, isLast: true).pictures ?? []
    }
}
