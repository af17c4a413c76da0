public import CSDD
internal import SDDBase
internal import SDDCoders

@_cdecl("sdd_image_metadata") @implementation
public func sdd_image_metadata(
    _ image: OpaquePointer?, _ kind: Int32, _ data: UnsafeMutablePointer<UnsafeRawPointer?>?,
    _ size: UnsafeMutablePointer<Int>?, _ detail: UnsafeMutablePointer<Int32>?
) -> sdd_status {
    data?.pointee = nil
    size?.pointee = 0
    detail?.pointee = 0
    return status { () throws(Refusal) in
        guard let image = Handle.image(image), let kind = Metadata.Kind(rawValue: kind), let data, let size else {
            throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
        }
        let block = try coded(detail) { () throws(CoderError) in try image.metadata?.block(kind) }
        guard let block else { throw Refusal(SDD_ERROR_NOT_FOUND) }
        // Safety: the image holds its metadata, which holds the block.
        data.pointee = block.pointer.baseAddress
        size.pointee = block.count
    }
}

@_cdecl("sdd_image_text_count") @implementation
public func sdd_image_text_count(_ image: OpaquePointer?) -> Int { Handle.image(image)?.metadata?.texts.count ?? 0 }

@_cdecl("sdd_image_text_at") @implementation
public func sdd_image_text_at(
    _ image: OpaquePointer?, _ index: Int, _ text: UnsafeMutablePointer<sdd_image_text>?
) -> sdd_status {
    status { () throws(Refusal) in
        try fill(text, with: sdd_image_text())
        guard let image = Handle.image(image) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        guard let texts = image.metadata?.texts, texts.indices.contains(index) else {
            throw Refusal(SDD_ERROR_NOT_FOUND)
        }
        try fill(text, with: made(texts[index]))
    }
}

private func made(_ text: MetadataText) -> sdd_image_text {
    var made = sdd_image_text()
    made.keyword = string(text.keyword)
    made.text = string(text.text)
    // Without the NUL.
    made.text_size = text.text.count - 1
    made.language = string(text.language)
    made.translated_keyword = string(text.translatedKeyword)
    return made
}

/// Safety: it ends with a NUL, and the image holds its metadata, which holds the text.
private func string(_ bytes: Bytes) -> UnsafePointer<CChar>? {
    bytes.pointer.baseAddress?.assumingMemoryBound(to: CChar.self)
}
