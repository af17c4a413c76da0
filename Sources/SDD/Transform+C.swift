public import CSDD
internal import Glibc
internal import SDDBase
internal import SDDCoders

@_cdecl("sdd_image_create") @implementation
public func sdd_image_create(
    _ width: Int32, _ height: Int32, _ pixelFormat: Int32, _ pixels: UnsafeRawPointer?, _ stride: Int,
    _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    out?.pointee = nil
    return status { () throws(Refusal) in
        guard let out, let pixels, width > 0, height > 0, let format = PixelFormat(rawValue: pixelFormat) else {
            throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
        }
        // No overflow: a width of 31 bits, and a few bytes a pixel.
        let row = Int(width) * format.bytesPerPixel
        guard stride == 0 || stride >= row else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        let step = stride == 0 ? row : stride
        let rows = Int(height) * format.planeCount
        guard !step.multipliedReportingOverflow(by: rows).overflow else {
            throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
        }
        guard let copy = PixelBuffer(width: Int(width), height: Int(height), format: format) else {
            throw Refusal(SDD_ERROR_NO_RESOURCES)
        }
        // Safety: the header of the library promises `height` rows of each plane, `step` bytes apart.
        for y in 0..<rows { memcpy(copy.base + y * copy.stride, pixels + y * step, row) }
        out.pointee = Handle.retained(Image(pixels: copy, format: nil, bytes: nil))
    }
}

@_cdecl("sdd_image_transform") @implementation
public func sdd_image_transform(
    _ image: OpaquePointer?, _ list: UnsafePointer<sdd_transform>?, _ count: Int,
    _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    out?.pointee = nil
    return status { () throws(Refusal) in
        guard let out, let image = Handle.image(image) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        out.pointee = Handle.retained(try transformed(image, by: try transformChain(list, count: count)))
    }
}

@_cdecl("sdd_transform_key") @implementation
public func sdd_transform_key(
    _ list: UnsafePointer<sdd_transform>?, _ count: Int, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ length: UnsafeMutablePointer<Int>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard buffer != nil || capacity == 0 else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        try write(transformChain(list, count: count).key, to: buffer, capacity: capacity, length: length)
    }
}

private func transformed(_ image: Image, by chain: TransformChain) throws(Refusal) -> Image {
    let source = try decoded(image)
    do throws(TransformError) {
        let pixels = try chain.apply(to: source)
        if pixels === source { return image }
        return Image(pixels: pixels, format: image.format, bytes: nil)
    } catch {
        switch error {
        case .noMemory: throw Refusal(SDD_ERROR_NO_RESOURCES)
        case .outside, .tooLarge: throw Refusal(SDD_ERROR_DOES_NOT_FIT)
        case .refused: throw Refusal(SDD_ERROR_BAD_IMAGE_DATA)
        }
    }
}
