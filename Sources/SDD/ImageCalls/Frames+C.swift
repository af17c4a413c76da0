public import CSDD
internal import SDDCoders

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
    _ image: OpaquePointer?, _ index: Int32, _ frame: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    frame?.pointee = nil
    return status { () throws(Refusal) in
        guard let image = Handle.image(image) else { throw .null("image") }
        guard let frame else { throw .null("frame") }
        let made = try coded { () throws(CoderError) in try image.frame(Int(index)) }
        guard let made else { throw .index(index, of: image.frameCount, "frames") }
        frame.pointee = Handle.retained(made)
    }
}
