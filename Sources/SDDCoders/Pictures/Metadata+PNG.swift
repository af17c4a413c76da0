internal import CPNG
internal import SDDBase

/// Reads the chunks with profiles, texts and Exif (PNG, Third Edition, 11.3.2.3, 11.3.3 and 11.3.5.4), wherever they
/// are.
extension MetadataBuilder {
    mutating func readPNG(_ bytes: UnsafeRawBufferPointer) {
        var isGrey = false
        for chunk in PNGChunks(bytes) {
            switch chunk.name {
            // The second bit of the colour type (11.2.1) says whether the picture has colour.
            case .IHDR: isGrey = chunk.data.dropFirst(9).first.map { $0 & 2 == 0 } ?? false
            case .iCCP: add(.icc) { () throws(CoderError) in try Self.profile(chunk, isGrey: isGrey) }
            case .eXIf:
                add(.exif) { () throws(CoderError) in
                    try Self.check(chunk)
                    return try Bytes.copy(chunk.data)
                }
            case .tEXt: addText { most throws(CoderError) in try Self.plainText(chunk, most) }
            case .zTXt: addText { most throws(CoderError) in try Self.packedText(chunk, most) }
            case .iTXt: addInternationalText(chunk)
            case .IEND: return
            default: break
            }
        }
    }

    /// Unpacks the profile of an iCCP chunk. Its name is ignored.
    static func profile(_ chunk: PNGChunk, isGrey: Bool) throws(CoderError) -> Bytes {
        try check(chunk)
        var cursor = ByteCursor(chunk.data)
        guard cursor.takeText() != nil, cursor.number8() == 0 else { throw CoderError(.corrupt) }
        return try unpacked(cursor.takeRest(), isGrey ? SDDP_GREY_PROFILE : SDDP_COLOUR_PROFILE, limit: largest)
    }

    private static func plainText(_ chunk: PNGChunk, _ most: Int) throws(CoderError) -> MetadataText {
        try check(chunk)
        var cursor = ByteCursor(chunk.data)
        guard let keyword = cursor.takeText() else { throw CoderError(.corrupt) }
        return try MetadataText(keyword: keyword, text: limited(cursor.takeRest(), most))
    }

    private static func packedText(_ chunk: PNGChunk, _ most: Int) throws(CoderError) -> MetadataText {
        try check(chunk)
        var cursor = ByteCursor(chunk.data)
        guard let keyword = cursor.takeText(), cursor.number8() == 0 else { throw CoderError(.corrupt) }
        let text = try unpacked(cursor.takeRest(), SDDP_TEXT, limit: most)
        defer { withExtendedLifetime(text) {} }
        return try MetadataText(keyword: keyword, text: text.pointer)
    }

    /// Adds an iTXt chunk. XMP is recognized by its keyword, and is not listed among the texts.
    private mutating func addInternationalText(_ chunk: PNGChunk) {
        var cursor = ByteCursor(chunk.data)
        let isXMP = cursor.takeText().map { $0.elementsEqual("XML:com.adobe.xmp".utf8) } ?? false
        if isXMP {
            add(.xmp) { () throws(CoderError) in
                try Self.check(chunk)
                return try InternationalText(chunk.data, limit: Self.largest).bytes()
            }
        } else {
            addText { most throws(CoderError) in
                try Self.check(chunk)
                return try InternationalText(chunk.data, limit: most).text()
            }
        }
    }

    // MARK: - Parts of chunks

    private static func check(_ chunk: PNGChunk) throws(CoderError) {
        guard chunk.isIntact else { throw CoderError(.corrupt) }
    }

    private static func limited(
        _ bytes: UnsafeRawBufferPointer, _ most: Int
    ) throws(CoderError) -> UnsafeRawBufferPointer {
        guard bytes.count <= most else { throw CoderError(.chunkTooLarge) }
        return bytes
    }

    fileprivate static func unpacked(
        _ packed: UnsafeRawBufferPointer, _ kind: sddp_packed_kind, limit: Int
    ) throws(CoderError) -> Bytes {
        var memory: UnsafeMutableRawPointer?
        var size = 0
        // Safety: the shim reads the packed bytes until it returns; what it gives is malloc'ed, and ours.
        let status = sddp_unpack(kind, packed.baseAddress, packed.count, limit, &memory, &size)
        if let failure = CoderError.Kind(status) { throw CoderError(failure) }
        return Bytes(adopting: memory, count: size)
    }
}

/// The fields of iTXt (11.3.3.4).
private struct InternationalText {
    private let keyword: UnsafeRawBufferPointer
    private let language: UnsafeRawBufferPointer
    private let translatedKeyword: UnsafeRawBufferPointer
    private let plain: UnsafeRawBufferPointer
    /// The unpacked text; `nil` if the text is not compressed.
    private let unpacked: Bytes?

    init(_ data: UnsafeRawBufferPointer, limit: Int) throws(CoderError) {
        var cursor = ByteCursor(data)
        guard let keyword = cursor.takeText(), let isPacked = cursor.number8(), let method = cursor.number8(),
            isPacked == 0 || isPacked == 1 && method == 0, let language = cursor.takeText(),
            let translatedKeyword = cursor.takeText()
        else { throw CoderError(.corrupt) }
        (self.keyword, self.language, self.translatedKeyword) = (keyword, language, translatedKeyword)
        plain = cursor.takeRest()
        guard data.count <= limit else { throw CoderError(.chunkTooLarge) }
        unpacked = isPacked == 1 ? try MetadataBuilder.unpacked(plain, SDDP_TEXT, limit: limit) : nil
    }

    func bytes() throws(CoderError) -> Bytes {
        if let unpacked { return unpacked }
        return try Bytes.copy(plain)
    }

    func text() throws(CoderError) -> MetadataText {
        defer { withExtendedLifetime(unpacked) {} }
        return try MetadataText(
            keyword: keyword, text: unpacked?.pointer ?? plain, isUTF8: true, language: language,
            translatedKeyword: translatedKeyword)
    }
}
