public import CSDD
internal import SDDBase
internal import SDDCoders

@_cdecl("sdd_image_decode") @implementation
public func sdd_image_decode(
    _ bytes: UnsafeRawPointer?, _ size: Int, _ options: UnsafePointer<sdd_decode_options>?,
    _ image: UnsafeMutablePointer<OpaquePointer?>?, _ detail: UnsafeMutablePointer<Int32>?
) -> sdd_status {
    image?.pointee = nil
    detail?.pointee = Int32(SDD_DETAIL_NONE)
    return status { () throws(Refusal) in
        guard let image, size >= 0, bytes != nil || size == 0 else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        let form = try pixelForm(options) ?? PixelForm()
        Handle.prepareForForks()
        // Safety: the header of the library promises `size` readable bytes.
        guard let copy = Bytes(copying: UnsafeRawBufferPointer(start: bytes, count: size)) else {
            throw Refusal(SDD_ERROR_NO_RESOURCES)
        }
        image.pointee = Handle.retained(try coded(detail) { () throws(CoderError) in try decoded(copy, in: form) })
    }
}

private func decoded(_ bytes: Bytes, in form: PixelForm) throws(CoderError) -> Image {
    let decoders = DecoderSet(registry: .builtIn.asking([.process]))
    guard let made = try decoders.decode(bytes, forms: [form], limits: DecodeLimits()).first else {
        throw CoderError(.unsupported)
    }
    return try made.image.get()
}
