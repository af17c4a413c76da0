public import CSDD
internal import SDDBase
internal import SDDCoders

@_cdecl("sdd_image_retain") @implementation
public func sdd_image_retain(_ image: OpaquePointer?) -> OpaquePointer? {
    Handle.retain(image)
    return image
}

@_cdecl("sdd_image_release") @implementation
public func sdd_image_release(_ image: OpaquePointer?) { Handle.release(image) }

@_cdecl("sdd_image_width") @implementation
public func sdd_image_width(_ image: OpaquePointer?) -> Int32 {
    Int32(clamping: given(Handle.image(image), "image")?.width ?? 0)
}

@_cdecl("sdd_image_height") @implementation
public func sdd_image_height(_ image: OpaquePointer?) -> Int32 {
    Int32(clamping: given(Handle.image(image), "image")?.height ?? 0)
}

@_cdecl("sdd_image_stride") @implementation
public func sdd_image_stride(_ image: OpaquePointer?) -> Int { pixels(of: image)?.stride ?? 0 }

@_cdecl("sdd_image_pixel_format") @implementation
public func sdd_image_pixel_format(_ image: OpaquePointer?) -> Int32 {
    given(Handle.image(image), "image")?.pixelFormat.rawValue ?? 0
}

@_cdecl("sdd_image_pixels") @implementation
public func sdd_image_pixels(_ image: OpaquePointer?) -> UnsafePointer<UInt8>? {
    pixels(of: image).map { UnsafeRawPointer($0.base).assumingMemoryBound(to: UInt8.self) }
}

/// Returns the pixels of an image, and decodes them now if necessary; `nil` if that fails.
private func pixels(of image: OpaquePointer?, _ function: StaticString = #function) -> PixelBuffer? {
    guard let image = given(Handle.image(image), "image", function) else { return nil }
    return answer(orElse: nil, function) { () throws(Refusal) in try decoded(image) }
}

@_cdecl("sdd_image_decode_pixels") @implementation
public func sdd_image_decode_pixels(_ image: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in
        guard let image = Handle.image(image) else { throw .null("image") }
        _ = try decoded(image)
    }
}

@_cdecl("sdd_image_bytes") @implementation
public func sdd_image_bytes(_ image: OpaquePointer?) -> OpaquePointer? {
    Handle.borrowed(given(Handle.image(image), "image")?.bytes)
}

@_cdecl("sdd_bytes_retain") @implementation
public func sdd_bytes_retain(_ bytes: OpaquePointer?) -> OpaquePointer? {
    Handle.retain(bytes)
    return bytes
}

@_cdecl("sdd_bytes_release") @implementation
public func sdd_bytes_release(_ bytes: OpaquePointer?) { Handle.release(bytes) }

@_cdecl("sdd_bytes_data") @implementation
public func sdd_bytes_data(_ bytes: OpaquePointer?) -> UnsafePointer<UInt8>? {
    guard let bytes = given(Handle.bytes(bytes), "bytes"), bytes.count > 0 else { return nil }
    return bytes.pointer.baseAddress?.assumingMemoryBound(to: UInt8.self)
}

@_cdecl("sdd_bytes_size") @implementation
public func sdd_bytes_size(_ bytes: OpaquePointer?) -> Int { given(Handle.bytes(bytes), "bytes")?.count ?? 0 }

@_cdecl("sdd_bytes_create") @implementation
public func sdd_bytes_create(_ data: UnsafeRawPointer?, _ size: Int) -> OpaquePointer? {
    answer(orElse: nil) { () throws(Refusal) in
        try checkBytes(data, size, "data")
        guard let copy = Bytes(copying: UnsafeRawBufferPointer(start: data, count: size)) else {
            throw .noMemory("data")
        }
        return Handle.retained(copy)
    }
}
