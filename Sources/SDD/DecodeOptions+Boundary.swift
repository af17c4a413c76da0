internal import CSDD
internal import SDDCoders

/// What a caller's sdd_decode_options mean; nil for NULL.
func pixelForm(_ source: UnsafePointer<sdd_decode_options>?) throws(Refusal) -> PixelForm? {
    guard let source else { return nil }
    var given = sdd_decode_options()
    try read(source, into: &given)
    guard given.reserved == 0 else { throw Refusal(SDD_ERROR_UNSUPPORTED) }
    let format = given.pixel_format == 0 ? .rgba8 : PixelFormat(rawValue: given.pixel_format)
    guard let format, (0...1).contains(given.keep_orientation), given.background <= 0xff_ffff else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
    }
    return PixelForm(format: format, isUpright: given.keep_orientation == 0, background: given.background)
}
