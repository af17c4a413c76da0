public import CSDD
internal import SDDBase
internal import SDDCoders

@_cdecl("sdd_image_thumbhash") @implementation
public func sdd_image_thumbhash(_ image: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?) -> sdd_status {
    out?.pointee = nil
    return status { () throws(Refusal) in
        guard let out else { throw .null("out") }
        guard let image = Handle.image(image) else { throw .null("image") }
        let pixels = try decoded(image)
        let hash = try coded { () throws(CoderError) in try ThumbHash.hash(of: pixels) }
        out.pointee = Handle.retained(hash)
    }
}

@_cdecl("sdd_image_from_thumbhash") @implementation
public func sdd_image_from_thumbhash(
    _ hash: UnsafeRawPointer?, _ size: Int, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    out?.pointee = nil
    return status { () throws(Refusal) in
        guard let out else { throw .null("out") }
        try checkBytes(hash, size, "hash")
        // Safety: the library's header requires `size` readable bytes.
        let bytes = UnsafeRawBufferPointer(start: hash, count: size)
        let pixels = try coded { () throws(CoderError) in try ThumbHash.picture(of: bytes) }
        guard let pixels else { throw Refusal(SDD_ERROR_BAD_IMAGE_DATA, "hash", "its \(size) bytes are no ThumbHash") }
        out.pointee = Handle.retained(Image(pixels: pixels, format: nil, bytes: nil))
    }
}
