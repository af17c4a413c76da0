public import CSDD
internal import SDDCoders

@_cdecl("sdd_image_frame_count") @implementation
public func sdd_image_frame_count(_ image: OpaquePointer?) -> Int32 {
    Int32(clamping: Handle.image(image)?.frameCount ?? 0)
}

@_cdecl("sdd_image_loop_count") @implementation
public func sdd_image_loop_count(_ image: OpaquePointer?) -> Int32 {
    Int32(clamping: Handle.image(image)?.animation?.loopCount ?? 1)
}

@_cdecl("sdd_image_frame_duration_us") @implementation
public func sdd_image_frame_duration_us(_ image: OpaquePointer?, _ index: Int32) -> Int64 {
    Handle.image(image)?.animation?.duration(of: Int(index)) ?? 0
}

@_cdecl("sdd_image_frame") @implementation
public func sdd_image_frame(
    _ image: OpaquePointer?, _ index: Int32, _ frame: UnsafeMutablePointer<OpaquePointer?>?,
    _ detail: UnsafeMutablePointer<Int32>?
) -> sdd_status {
    frame?.pointee = nil
    detail?.pointee = 0
    return status { () throws(Refusal) in
        guard let image = Handle.image(image), let frame else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        let made = try coded(detail) { () throws(CoderError) in try image.frame(Int(index)) }
        guard let made else { throw Refusal(SDD_ERROR_NOT_FOUND) }
        frame.pointee = Handle.retained(made)
    }
}
