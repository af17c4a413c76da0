public import CSDD
internal import SDDBase
internal import SDDCoders

@_cdecl("sdd_image_metadata") @implementation
public func sdd_image_metadata(
    _ image: OpaquePointer?, _ kind: Int32, _ data: UnsafeMutablePointer<UnsafeRawPointer?>?,
    _ size: UnsafeMutablePointer<Int>?
) -> sdd_status {
    data?.pointee = nil
    size?.pointee = 0
    return status { () throws(Refusal) in
        guard let image = Handle.image(image) else { throw .null("image") }
        guard let known = Metadata.Kind(rawValue: kind) else {
            throw .number("kind", kind, allowed: "one of SDD_METADATA_")
        }
        guard let data else { throw .null("data") }
        guard let size else { throw .null("size") }
        let block = try coded { () throws(CoderError) in try image.metadata?.block(known) }
        guard let block else {
            throw Refusal(SDD_ERROR_NOT_FOUND, "kind", "the picture has no metadata of the kind \(kind)")
        }
        // Safety: the image holds its metadata, which holds the block.
        data.pointee = block.pointer.baseAddress
        size.pointee = block.count
    }
}

@_cdecl("sdd_image_text_count") @implementation
public func sdd_image_text_count(_ image: OpaquePointer?) -> Int {
    given(Handle.image(image), "image")?.metadata?.texts.count ?? 0
}

@_cdecl("sdd_image_text_at") @implementation
public func sdd_image_text_at(
    _ image: OpaquePointer?, _ index: Int, _ text: UnsafeMutablePointer<sdd_image_text>?
) -> sdd_status {
    status { () throws(Refusal) in
        try fill(text, "text", with: sdd_image_text())
        guard let image = Handle.image(image) else { throw .null("image") }
        let texts = image.metadata?.texts ?? []
        guard texts.indices.contains(index) else {
            throw .index(UInt(bitPattern: index), of: texts.count, "texts")
        }
        try fill(text, "text", with: made(texts[index]))
    }
}

private func made(_ text: MetadataText) -> sdd_image_text {
    var made = sdd_image_text()
    made.keyword = string(text.keyword)
    made.text = string(text.text)
    // The size excludes the NUL.
    made.text_size = text.text.count - 1
    made.language = string(text.language)
    made.translated_keyword = string(text.translatedKeyword)
    return made
}

/// Safety: the bytes end with a NUL, and the image holds its metadata, which holds the text.
private func string(_ bytes: Bytes) -> UnsafePointer<CChar>? {
    bytes.pointer.baseAddress?.assumingMemoryBound(to: CChar.self)
}
