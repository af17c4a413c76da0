public import CSDD
internal import SDDCoders

@_cdecl("sdd_image_frame_count") @implementation
public func sdd_image_frame_count(_ image: OpaquePointer?) -> Int32 {
    Int32(clamping: given(Handle.image(image), "image")?.frameCount ?? 0)
}

@_cdecl("sdd_image_loop_count") @implementation
public func sdd_image_loop_count(_ image: OpaquePointer?) -> Int32 {
    Int32(clamping: given(Handle.image(image), "image")?.animation?.loopCount ?? 1)
}

@_cdecl("sdd_image_frame_duration_us") @implementation
public func sdd_image_frame_duration_us(_ image: OpaquePointer?, _ index: Int32) -> Int64 {
    answer(orElse: 0) { () throws(Refusal) in
        guard let image = Handle.image(image) else { throw .null("image") }
        guard (0..<image.frameCount).contains(Int(index)) else { throw .index(index, of: image.frameCount, "frames") }
        return image.animation?.duration(of: Int(index)) ?? 0
    }
}

@_cdecl("sdd_image_frame") @implementation
public func sdd_image_frame(
    _ image: OpaquePointer?, _ index: Int32, _ frame: UnsafeMutablePointer<OpaquePointer?>?,
    _ detail: UnsafeMutablePointer<Int32>?
) -> sdd_status {
    frame?.pointee = nil
    detail?.pointee = 0
    return status { () throws(Refusal) in
        guard let image = Handle.image(image) else { throw .null("image") }
        guard let frame else { throw .null("frame") }
        let made = try coded(detail) { () throws(CoderError) in try image.frame(Int(index)) }
        guard let made else { throw .index(index, of: image.frameCount, "frames") }
        frame.pointee = Handle.retained(made)
    }
}
