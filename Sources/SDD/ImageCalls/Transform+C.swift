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
        guard let out else { throw .null("out") }
        guard let pixels else { throw .null("pixels") }
        guard width > 0 else { throw .number("width", width, allowed: "at least 1") }
        guard height > 0 else { throw .number("height", height, allowed: "at least 1") }
        guard let format = PixelFormat(rawValue: pixelFormat) else {
            throw .number("pixel_format", pixelFormat, allowed: "one of SDD_PIXEL_FORMAT_")
        }
        // No overflow: a width has at most 31 bits, and a pixel only a few bytes.
        let row = Int(width) * format.bytesPerPixel
        let step = stride == 0 ? row : stride
        let rows = Int(height) * format.planeCount
        guard step >= row, !step.multipliedReportingOverflow(by: rows).overflow else {
            throw .number("stride", UInt(bitPattern: stride), allowed: "0, or at least the \(row) bytes of a row")
        }
        guard let copy = PixelBuffer(width: Int(width), height: Int(height), format: format) else {
            throw .noMemory("pixels")
        }
        // Safety: the library's header requires `height` rows of each plane, `step` bytes apart.
        for y in 0..<rows { memcpy(copy.base + y * copy.stride, pixels + y * step, row) }
        out.pointee = Handle.retained(Image(pixels: copy, format: nil, bytes: nil))
    }
}

/// The largest number of frames of an image made by the application.
private let mostFrames = 10_000

@_cdecl("sdd_image_create_animation") @implementation
public func sdd_image_create_animation(
    _ frames: UnsafePointer<sdd_animation_frame>?, _ count: Int, _ loopCount: Int32,
    _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    out?.pointee = nil
    return status { () throws(Refusal) in
        guard let out else { throw .null("out") }
        guard let frames else { throw .null("frames") }
        guard (1...mostFrames).contains(count) else {
            throw .number("count", UInt(bitPattern: count), allowed: "1 to \(mostFrames)")
        }
        guard loopCount >= 0 else { throw .number("loop_count", loopCount, allowed: "at least 0") }
        var images: [Image] = []
        var made = [try frame(read(frames, "frames"), like: nil, &images)]
        let first = UnsafeRawPointer(frames)
        let size = first.loadUnaligned(as: Int.self)
        for index in 1..<count {
            // Safety: the caller promises `count` records of `size` bytes; reading the first one has checked the size.
            made.append(try frame(read(first + index * size, size: size), like: made[0].pixels, &images))
        }
        out.pointee = Handle.retained(Image(frames: made, loopCount: Int(loopCount), of: images))
    }
}

/// - Parameters:
///   - first: the pixels of the first frame, whose size and format the others have.
///   - images: the images of the frames, to which this one is added.
private func frame(
    _ given: sdd_animation_frame, like first: PixelBuffer?, _ images: inout [Image]
) throws(Refusal) -> (pixels: PixelBuffer, duration: Int64) {
    guard let image = Handle.image(given.image) else { throw .null("sdd_animation_frame.image") }
    let duration = try number(given.duration_us, "sdd_animation_frame.duration_us", default: 0, most: .max)
    if let first, (image.width, image.height) != (first.width, first.height) {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, "sdd_animation_frame.image",
            "its size is \(image.width) x \(image.height), and that of the first \(first.width) x \(first.height)")
    }
    images.append(image)
    return (try coded { () throws(CoderError) in try image.shareable(as: first?.format) }, duration)
}

@_cdecl("sdd_image_transform") @implementation
public func sdd_image_transform(
    _ image: OpaquePointer?, _ list: UnsafePointer<sdd_transform>?, _ count: Int,
    _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    out?.pointee = nil
    return status { () throws(Refusal) in
        guard let out else { throw .null("out") }
        guard let image = Handle.image(image) else { throw .null("image") }
        let transforms = try appTransforms(list, "list", count: count, "count")
        out.pointee = Handle.retained(try transformed(image, by: transforms.chain))
        transforms.appData.own()
    }
}

@_cdecl("sdd_transform_key") @implementation
public func sdd_transform_key(
    _ list: UnsafePointer<sdd_transform>?, _ count: Int, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ length: UnsafeMutablePointer<Int>?
) -> sdd_status {
    status { () throws(Refusal) in
        try checkBuffer(buffer, capacity: capacity)
        try write(
            appTransforms(list, "list", count: count, "count").chain.key, to: buffer, capacity: capacity, length: length
        )
    }
}

private func transformed(_ image: Image, by chain: TransformChain) throws(Refusal) -> Image {
    let source = try decoded(image)
    do throws(TransformError) {
        let pixels = try chain.apply(to: source)
        if pixels === source { return image }
        // If rows are missing, it is unknown where they are now.
        return Image(
            pixels: pixels, format: image.format, bytes: nil, form: DecodeOptions(colour: image.form.colour),
            goodRows: image.goodRows == nil ? nil : 0, isPreview: image.isPreview, colour: image.colour)
    } catch {
        switch error {
        case .noMemory: throw Refusal(SDD_ERROR_NO_RESOURCES, "image", "there is no memory for what it becomes")
        case .outside: throw Refusal(SDD_ERROR_DOES_NOT_FIT, "list", "a crop is of what lies outside the picture")
        case .tooLarge(let width, let height):
            throw Refusal(
                SDD_ERROR_DOES_NOT_FIT, "list",
                "a resize would make \(width) x \(height) pixels, more than a picture may have")
        case .refused: throw Refusal(SDD_ERROR_BAD_IMAGE_DATA, "list", "a callback gave no picture")
        }
    }
}
