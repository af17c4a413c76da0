public import CSDD
internal import SDDCoders

@_cdecl("sdd_image_get_info") @implementation
public func sdd_image_get_info(
    _ image: OpaquePointer?, _ info: UnsafeMutablePointer<sdd_image_info>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let image = Handle.image(image) else { throw .null("image") }
        try fill(info, "info", with: made(image))
    }
}

private func made(_ image: Image) -> sdd_image_info {
    var made = sdd_image_info()
    made.stride = image.ready?.stride ?? 0
    made.pixels_size = image.ready?.byteCount ?? 0
    made.width = Int32(clamping: image.width)
    made.height = Int32(clamping: image.height)
    made.pixel_format = image.pixelFormat.rawValue
    made.is_decoded = image.ready == nil ? 0 : 1
    made.format = image.format?.rawValue ?? 0
    made.stored_width = Int32(clamping: image.facts?.width ?? 0)
    made.stored_height = Int32(clamping: image.facts?.height ?? 0)
    made.orientation = Int32(clamping: image.facts?.orientation ?? 1)
    made.depth = Int32(clamping: image.facts?.depth ?? 0)
    made.has_alpha = image.facts?.hasAlpha == true ? 1 : 0
    made.is_scaled = image.isScaled ? 1 : 0
    made.good_rows = Int32(clamping: image.goodRowCount)
    made.is_preview = image.isPreview ? 1 : 0
    made.is_partial = image.isPartial ? 1 : 0
    return made
}
