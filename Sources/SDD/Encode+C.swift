public import CSDD
internal import SDDBase
internal import SDDCoders

@_cdecl("sdd_image_encode") @implementation
public func sdd_image_encode(
    _ image: OpaquePointer?, _ options: UnsafePointer<sdd_encode_options>?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    out?.pointee = nil
    return status { () throws(Refusal) in
        guard let out else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        out.pointee = Handle.retained(try encoded(image, options))
    }
}

@_cdecl("sdd_image_encode_fd") @implementation
public func sdd_image_encode_fd(
    _ image: OpaquePointer?, _ options: UnsafePointer<sdd_encode_options>?, _ descriptor: Int32,
    _ systemError: UnsafeMutablePointer<Int32>?
) -> sdd_status {
    systemError?.pointee = 0
    return status { () throws(Refusal) in
        guard descriptor >= 0 else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        let bytes = try encoded(image, options)
        // Safety: what has been encoded is there until it is written.
        let code = withExtendedLifetime(bytes) {
            bytes.pointer.baseAddress.map { writeAll($0, count: bytes.count, to: descriptor) } ?? 0
        }
        if code == 0 { return }
        systemError?.pointee = code
        throw Refusal(SDD_ERROR_SINK)
    }
}

private func encoded(
    _ image: OpaquePointer?, _ options: UnsafePointer<sdd_encode_options>?
) throws(Refusal) -> Bytes {
    guard let image = Handle.image(image) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    let options = try encodeOptions(options)
    let pixels = try decoded(image)
    do throws(EncodeError) {
        return try ImageEncoder.encode(pixels, options, registry: .builtIn.asking([.process]))
    } catch {
        switch error {
        case .doesNotFit: throw Refusal(SDD_ERROR_DOES_NOT_FIT)
        case .unsupported: throw Refusal(SDD_ERROR_UNSUPPORTED)
        // libpng and libjpeg have no other reason left.
        case .noMemory, .failed: throw Refusal(SDD_ERROR_NO_RESOURCES)
        }
    }
}

private func encodeOptions(_ source: UnsafePointer<sdd_encode_options>?) throws(Refusal) -> EncodeOptions {
    var made = EncodeOptions()
    guard let source else { return made }
    var given = sdd_encode_options()
    try read(source, into: &given)
    guard given.reserved == 0 else { throw Refusal(SDD_ERROR_UNSUPPORTED) }
    made.format = ImageFormat(rawValue: given.format)
    guard made.format != nil || given.format == 0, (0...100).contains(given.quality), given.max_width >= 0,
        given.max_height >= 0, given.max_bytes >= 0, given.background <= 0xff_ffff,
        (0...1).contains(given.progressive), let chroma = EncodeOptions.Chroma(rawValue: given.chroma)
    else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    if given.quality > 0 { made.quality = Int(given.quality) }
    made.size = SizeRule(width: Int(given.max_width), height: Int(given.max_height))
    made.byteLimit = given.max_bytes
    made.background = given.background
    made.isProgressive = given.progressive == 1
    made.chroma = chroma
    return made
}
