internal import CSDD
internal import SDDCoders

/// What a caller's sdd_decode_options mean; nil for NULL.
func pixelForm(_ source: UnsafePointer<sdd_decode_options>?) throws(Refusal) -> PixelForm? {
    guard let source else { return nil }
    var given = sdd_decode_options()
    try read(source, into: &given)
    let format = given.pixel_format == 0 ? .rgba8 : PixelFormat(rawValue: given.pixel_format)
    guard let format, (0...1).contains(given.keep_orientation), given.background <= 0xff_ffff,
        [SDD_INTEGRITY_STRICT, SDD_INTEGRITY_LENIENT].contains(Int(given.integrity)),
        given.format_hint == 0 || ImageFormat(rawValue: given.format_hint) != nil, given.reserved == 0
    else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
    }
    return PixelForm(
        format: format, isUpright: given.keep_orientation == 0, background: given.background,
        size: try sizeRule(given), isLenient: Int(given.integrity) == SDD_INTEGRITY_LENIENT,
        memory: try pixelMemory(given), formatHint: ImageFormat(rawValue: given.format_hint))
}

/// The same with what option bits say.
/// - Parameter standard: for NULL.
func pixelForm(
    _ source: UnsafePointer<sdd_decode_options>?, options: UInt64, standard: PixelForm
) throws(Refusal) -> PixelForm {
    var form = try pixelForm(source) ?? standard
    if has(SDD_OPTION_SCALE_DOWN_LARGE_IMAGES, in: options) { form = form.scaledDown }
    if has(SDD_OPTION_PRELOAD_ALL_FRAMES, in: options) { form.frames = .preload }
    if has(SDD_OPTION_DECODE_FIRST_FRAME_ONLY, in: options) { form.frames = .firstOnly }
    form.isLazy = has(SDD_OPTION_AVOID_DECODE_IMAGE, in: options)
    guard form.isPossible else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    return form
}

private func sizeRule(_ given: sdd_decode_options) throws(Refusal) -> SizeRule {
    guard let fit = SizeRule.Fit(rawValue: given.fit), given.target_width >= 0, given.target_height >= 0,
        given.scale_down_limit_bytes >= 0, (0...1).contains(given.allow_enlarging),
        [SDD_SCALING_FAST, SDD_SCALING_EXACT].contains(Int(given.scaling))
    else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    return SizeRule(
        width: Int(given.target_width), height: Int(given.target_height), fit: fit,
        byteLimit: given.scale_down_limit_bytes, allowsEnlarging: given.allow_enlarging == 1,
        isExact: Int(given.scaling) == SDD_SCALING_EXACT)
}

/// Beyond it there is no use for one.
private let largestAlignment = 4096

private func pixelMemory(_ given: sdd_decode_options) throws(Refusal) -> PixelMemory {
    let alignment = given.row_alignment == 0 ? 1 : Int(given.row_alignment)
    guard (1...largestAlignment).contains(alignment), alignment & (alignment - 1) == 0 else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
    }
    return PixelMemory(owner: try owner(given, alignment), rowAlignment: alignment)
}

private func owner(_ given: sdd_decode_options, _ alignment: Int) throws(Refusal) -> PixelMemory.Owner {
    let (size, stride) = (given.pixels_size, given.pixels_stride)
    guard let pixels = given.pixels else {
        guard size == 0, stride == 0 else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        return try given.allocator.map { source throws(Refusal) in .allocator(try allocator(source)) } ?? .library
    }
    // A size that is no Int is none that memory has.
    guard given.allocator == nil, size >= 0, stride >= 0, stride % alignment == 0,
        UInt(bitPattern: pixels) % UInt(alignment) == 0
    else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    return .caller(PixelSpace(base: pixels, size: size, stride: stride))
}

private func allocator(_ source: UnsafePointer<sdd_pixel_allocator>) throws(Refusal) -> PixelAllocator {
    var given = sdd_pixel_allocator()
    try read(source, into: &given)
    guard let allocate = given.allocate, let release = given.release else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    return PixelAllocator(allocate: allocate, release: release, userData: given.user_data)
}

extension PixelForm {
    /// With SDD_OPTION_SCALE_DOWN_LARGE_IMAGES, where no other limit is given.
    var scaledDown: PixelForm {
        if size.byteLimit > 0 { return self }
        var form = self
        form.size = SizeRule(byteLimit: 60 << 20, isExact: size.isExact)
        return form
    }
}
