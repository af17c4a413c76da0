package import SDDBase

/// The decoders of one worker thread. Touched by that thread alone.
package final class DecoderSet {
    private let registry: CoderRegistry

    package init(registry: CoderRegistry) { self.registry = registry }

    /// The picture in a whole body, whose format its first bytes tell, in each of the forms.
    package func decode(
        _ bytes: Bytes, forms: [PixelForm], limits: DecodeLimits
    ) throws(CoderError) -> [(form: PixelForm, image: Image)] {
        let stream = PictureStream(forms: forms, limits: limits, registry: registry)
        return try stream.read(bytes, isLast: true).pictures ?? []
    }
}
