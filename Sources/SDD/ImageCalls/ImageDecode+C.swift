public import CSDD
internal import SDDBase
internal import SDDCoders

@_cdecl("sdd_image_decode") @implementation
public func sdd_image_decode(
    _ bytes: UnsafeRawPointer?, _ size: Int, _ options: UnsafePointer<sdd_decode_options>?,
    _ image: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    image?.pointee = nil
    return status { () throws(Refusal) in
        guard let image else { throw .null("image") }
        try checkBytes(bytes, size, "bytes")
        let form = try pixelForm(options, "options") ?? DecodeOptions()
        prepareForForks()
        // Safety: the library's header requires `size` readable bytes.
        guard let copy = Bytes(copying: UnsafeRawBufferPointer(start: bytes, count: size)) else {
            throw .noMemory("bytes")
        }
        let made = try coded { () throws(CoderError) in try DecoderSet.ofProcess.decode(copy, in: form) }
        image.pointee = Handle.retained(made)
    }
}
