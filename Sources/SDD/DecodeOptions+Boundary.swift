internal import CSDD
internal import SDDCoders

/// What a caller's sdd_decode_options mean; nil for NULL.
func pixelForm(_ source: UnsafePointer<sdd_decode_options>?) throws(Refusal) -> PixelForm? {
    guard let source else { return nil }
    var given = sdd_decode_options()
    try read(source, into: &given)
    let format = given.pixel_format == 0 ? .rgba8 : PixelFormat(rawValue: given.pixel_format)
    guard let format, (0...1).contains(given.keep_orientation), given.background <= 0xff_ffff,
        let fit = SizeRule.Fit(rawValue: given.fit), given.target_width >= 0, given.target_height >= 0,
        given.scale_down_limit_bytes >= 0, given.format_hint == 0 || ImageFormat(rawValue: given.format_hint) != nil
    else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    let size = SizeRule(
        width: Int(given.target_width), height: Int(given.target_height), fit: fit,
        byteLimit: given.scale_down_limit_bytes)
    return PixelForm(
        format: format, isUpright: given.keep_orientation == 0, background: given.background, size: size,
        formatHint: ImageFormat(rawValue: given.format_hint))
}

extension PixelForm {
    /// Row C9: with bit 8, where no other limit is given.
    var scaledDown: PixelForm {
        if size.byteLimit > 0 { return self }
        return PixelForm(
            format: format, isUpright: isUpright, background: background, size: SizeRule(byteLimit: 60 << 20),
            isLenient: isLenient, formatHint: formatHint)
    }
}
