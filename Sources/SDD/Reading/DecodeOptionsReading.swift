internal import CSDD
internal import SDDCoders
internal import SDDEngine

/// Reads sdd_decode_options; returns `nil` for NULL.
func pixelForm(_ source: UnsafePointer<sdd_decode_options>?, _ place: Place) throws(Refusal) -> DecodeOptions? {
    guard let source else { return nil }
    let given = try read(source, place)
    guard let format = given.pixel_format == 0 ? .rgba8 : PixelFormat(rawValue: given.pixel_format) else {
        throw .number("sdd_decode_options.pixel_format", given.pixel_format, allowed: "one of SDD_PIXEL_FORMAT_")
    }
    guard given.background <= 0xff_ffff else { throw badBackground("sdd_decode_options.background", given.background) }
    guard given.format_hint == 0 || ImageFormat(rawValue: given.format_hint) != nil else {
        throw .number("sdd_decode_options.format_hint", given.format_hint, allowed: "one of SDD_IMAGE_FORMAT_")
    }
    return DecodeOptions(
        format: format, isUpright: try !flag(given.keep_orientation, "sdd_decode_options.keep_orientation"),
        background: given.background, size: try sizeRule(given),
        isLenient: try choice(
            given.damage, "sdd_decode_options.damage", "SDD_DAMAGE_",
            [SDD_DAMAGE_REFUSE: false, SDD_DAMAGE_KEEP_REST: true]),
        memory: try pixelMemory(given), frames: try flag(given.still, "sdd_decode_options.still") ? .still : .access,
        formatHint: ImageFormat(rawValue: given.format_hint),
        colour: try colour(given.colour, "sdd_decode_options.colour"))
}

/// Reads sdd_decode_options and applies option bits.
/// - Parameter standard: the form to use for NULL.
func pixelForm(
    _ source: UnsafePointer<sdd_decode_options>?, _ place: Place, options: RequestOptions, standard: DecodeOptions
) throws(Refusal) -> DecodeOptions {
    let form = (try pixelForm(source, place) ?? standard).with(options)
    guard form.isPossible else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, "sdd_decode_options.pixels",
            "SDD_OPTION_AVOID_DECODE_IMAGE decodes later, and this memory is lent for now")
    }
    return form
}

/// Returns the refusal of a caller's pixel buffer that several images would be decoded to.
func ownMemory(_ whose: StaticString) -> Refusal {
    Refusal(SDD_ERROR_INVALID_ARGUMENT, "sdd_decode_options.pixels", "the pictures \(whose) cannot share one buffer")
}

func badBackground(_ place: Place, _ given: UInt32) -> Refusal {
    Refusal(SDD_ERROR_INVALID_ARGUMENT, place, "0x\(String(given, radix: 16)) is not 0x000000 to 0xffffff")
}

private func sizeRule(_ given: sdd_decode_options) throws(Refusal) -> SizeRule {
    let fit = try fit(given.fit, "sdd_decode_options.fit", default: .inside)
    let limit = given.scale_down_limit_bytes
    return SizeRule(
        width: Int(try number(given.target_width, "sdd_decode_options.target_width", default: 0, most: .max)),
        height: Int(try number(given.target_height, "sdd_decode_options.target_height", default: 0, most: .max)),
        fit: fit,
        byteLimit: try number(limit, "sdd_decode_options.scale_down_limit_bytes", default: 0, most: .max),
        allowsEnlarging: try flag(given.allow_enlarging, "sdd_decode_options.allow_enlarging"),
        isExact: try choice(
            given.scaling, "sdd_decode_options.scaling", "SDD_SCALING_",
            [SDD_SCALING_FAST: false, SDD_SCALING_EXACT: true]))
}

/// Reads a way to fit a picture into a size.
func fit(_ given: sdd_fit, _ place: Place, default standard: SizeRule.Fit) throws(Refusal) -> SizeRule.Fit {
    try choice(
        given, place, "SDD_FIT_",
        [SDD_FIT_DEFAULT: standard, SDD_FIT_INSIDE: .inside, SDD_FIT_FILL: .fill, SDD_FIT_STRETCH: .stretch])
}

/// Reads the colours of pixels.
func colour(_ given: sdd_colour, _ place: Place) throws(Refusal) -> DecodeOptions.Colour {
    try choice(
        given, place, "SDD_COLOUR_",
        [SDD_COLOUR_DEFAULT: .usual, SDD_COLOUR_AS_STORED: .asStored, SDD_COLOUR_SRGB: .sRGB])
}

/// The largest row alignment that is useful, in bytes.
private let largestAlignment = 4096

private func pixelMemory(_ given: sdd_decode_options) throws(Refusal) -> PixelMemory {
    let alignment = given.row_alignment == 0 ? 1 : Int(given.row_alignment)
    guard (1...largestAlignment).contains(alignment), alignment & (alignment - 1) == 0 else {
        throw .number(
            "sdd_decode_options.row_alignment", given.row_alignment, allowed: "a power of 2 up to \(largestAlignment)")
    }
    return PixelMemory(owner: try owner(given, alignment), rowAlignment: alignment)
}

private func owner(_ given: sdd_decode_options, _ alignment: Int) throws(Refusal) -> PixelMemory.Owner {
    let (size, stride) = (given.pixels_size, given.pixels_stride)
    guard let pixels = given.pixels else {
        guard size == 0 else { throw withoutPixels("sdd_decode_options.pixels_size", size) }
        guard stride == 0 else { throw withoutPixels("sdd_decode_options.pixels_stride", stride) }
        return try given.allocator.map { source throws(Refusal) in .allocator(try allocator(source)) } ?? .library
    }
    guard given.allocator == nil else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, "sdd_decode_options.allocator", "it must be NULL where there are pixels")
    }
    // A size_t beyond Int's range arrives as a negative number.
    guard size >= 0 else {
        throw .number("sdd_decode_options.pixels_size", UInt(bitPattern: size), allowed: "a size that memory can have")
    }
    guard stride >= 0, stride % alignment == 0 else {
        throw .number(
            "sdd_decode_options.pixels_stride", UInt(bitPattern: stride),
            allowed: "0 or a multiple of row_alignment, \(alignment)")
    }
    guard UInt(bitPattern: pixels) % UInt(alignment) == 0 else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, "sdd_decode_options.pixels",
            "its address is no multiple of row_alignment, \(alignment)")
    }
    return .caller(PixelSpace(base: pixels, size: size, stride: stride))
}

private func withoutPixels(_ place: Place, _ given: Int) -> Refusal {
    Refusal(SDD_ERROR_INVALID_ARGUMENT, place, "\(UInt(bitPattern: given)) means nothing where pixels is NULL")
}

private func allocator(_ source: UnsafePointer<sdd_pixel_allocator>) throws(Refusal) -> PixelAllocator {
    let given = try read(source, "sdd_decode_options.allocator")
    guard let allocate = given.allocate else { throw .null("sdd_pixel_allocator.allocate") }
    guard let release = given.release else { throw .null("sdd_pixel_allocator.release") }
    return PixelAllocator(allocate: allocate, release: release, userData: given.user_data)
}
