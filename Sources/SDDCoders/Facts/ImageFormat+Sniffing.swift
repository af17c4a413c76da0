/// Recognizes every known format by its complete magic number (row B34). One or two bytes alone are not enough, since
/// any file may begin with them.
extension ImageFormat {
    /// Returns `nil` if the bytes have no known format, or are too few to tell.
    /// - Parameter bytes: the beginning of a file.
    package init?(magicNumberOf bytes: UnsafeRawBufferPointer) {
        guard let found = Self.byMagicNumber(bytes) ?? Self.byBrand(bytes) ?? Self.byText(bytes) else { return nil }
        self = found
    }

    private static func byMagicNumber(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        if let format = builtIn.first(where: { bytes.starts(with: $0.magicNumber) }) { return format }
        if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) { return .gif }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return .webp }
        // ISO/IEC 18181-2, 2.2: a codestream alone, or a file of boxes that begins with a signature box.
        if bytes.starts(with: [0xff, 0x0a]) || bytes.starts(with: signatureOfJXL) { return .jxl }
        // TIFF 6.0, section 2, and BigTIFF, whose offsets have 8 bytes.
        if bytes.starts(with: [0x49, 0x49, 42, 0]) || bytes.starts(with: [0x4d, 0x4d, 0, 42]) { return .tiff }
        if bytes.starts(with: [0x49, 0x49, 43, 0, 8, 0, 0, 0]) || bytes.starts(with: [0x4d, 0x4d, 0, 43, 0, 8, 0, 0]) {
            return .tiff
        }
        if bytes.starts(with: "BM".utf8), isBitmapHeader(bytes) { return .bmp }
        if isIconDirectory(bytes) { return .ico }
        return bytes.starts(with: "%PDF-".utf8) ? .pdf : nil
    }

    private static let signatureOfJXL: [UInt8] = [0, 0, 0, 12, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a]

    /// Whether more bytes may change the format that `init(magicNumberOf:)` returns for the beginning of a file. A file
    /// type box counts as complete after its 64th compatible brand.
    static func isUndecided(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if builtIn.contains(where: { $0.mayBegin(bytes) && bytes.count >= $0.magicNumber.count }) { return false }
        if bytes.count < 16 { return !bytes.starts(with: [0xff, 0x0a]) }
        var cursor = ByteCursor(bytes)
        guard let size = cursor.number32(), size >= 16, let name = cursor.take(4), name.elementsEqual("ftyp".utf8)
        else {
            return false
        }
        return bytes.count < min(Int(size), 16 + 64 * 4)
    }

    /// Whether the bytes are the directory of an icon (type 1) or a cursor (type 2) with its first entry, whose picture
    /// has a size and lies behind the directory. A byte of the entry is unused.
    private static func isIconDirectory(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var cursor = ByteCursor(bytes, .littleEndian)
        guard cursor.number16() == 0, let type = cursor.number16(), type == 1 || type == 2,
            let count = cursor.number16(),
            count > 0, let entry = cursor.take(8), entry[3] == 0 || entry[3] == 255, let size = cursor.number32(),
            size > 0,
            let place = cursor.number32()
        else { return false }
        return place >= 6 + 16 * count
    }

    /// Whether the file's header of 14 bytes, of which only "BM" is fixed, is followed by the length of a Windows or
    /// OS/2 bitmap header.
    private static func isBitmapHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var cursor = ByteCursor(bytes, .littleEndian)
        guard cursor.take(14) != nil, let size = cursor.number32() else { return false }
        return [12, 16, 40, 52, 56, 64, 108, 124].contains(size)
    }

    // MARK: - ISO base media files

    /// Reads the file type box, which comes first (ISO/IEC 14496-12, 4.3): the major brand, its version, and all
    /// compatible brands.
    private static func byBrand(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        var cursor = ByteCursor(bytes)
        guard let size = cursor.number32(), size >= 16, let name = cursor.take(4), name.elementsEqual("ftyp".utf8),
            let major = cursor.take(4), cursor.take(4) != nil
        else { return nil }
        if let format = format(ofBrand: major) { return format }
        // "mif1" and "msf1" allow any kind of picture (ISO/IEC 23008-12, 10.2); the compatible brands tell which. At
        // most 64 of them are examined.
        guard major.elementsEqual("mif1".utf8) || major.elementsEqual("msf1".utf8) else { return nil }
        for _ in 0..<min((size - 16) / 4, 64) {
            guard let brand = cursor.take(4) else { break }
            if let format = format(ofBrand: brand) { return format }
        }
        return .heif
    }

    private static func format(ofBrand brand: UnsafeRawBufferPointer) -> ImageFormat? {
        switch String(decoding: brand, as: UTF8.self) {
        case "avif", "avis": .avif
        case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": .heif
        default: nil
        }
    }

    // MARK: - XML

    /// Recognizes an SVG by its first element, "svg". A byte order mark, white space, a declaration, comments and a
    /// document type may precede it.
    private static func byText(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        var text = bytes.prefix(64 << 10)
        if text.starts(with: [0xef, 0xbb, 0xbf]) { text = text.dropFirst(3) }
        while true {
            text = text.drop { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
            if text.starts(with: "<?".utf8) {
                guard let rest = text.behind("?>") else { return nil }
                text = rest
            } else if text.starts(with: "<!--".utf8) {
                guard let rest = text.dropFirst(4).behind("-->") else { return nil }
                text = rest
            } else if text.starts(with: "<!DOCTYPE".utf8) {
                guard let rest = text.behindDocumentType else { return nil }
                text = rest
            } else {
                return text.isElement("svg") || text.isElement("svg:svg") ? .svg : nil
            }
        }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Returns the bytes after the first occurrence of `end`, or `nil` if there is none.
    fileprivate func behind(_ end: StaticString) -> Self? {
        end.withUTF8Buffer { end in
            var rest = self
            while rest.count >= end.count {
                if rest.starts(with: end) { return rest.dropFirst(end.count) }
                rest = rest.dropFirst()
            }
            return nil
        }
    }

    /// The bytes after a document type, which may contain declarations in brackets.
    fileprivate var behindDocumentType: Self? {
        guard let at = firstIndex(where: { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "[") }) else { return nil }
        if self[at] == UInt8(ascii: ">") { return self[index(after: at)...] }
        return self[at...].behind("]")?.behind(">")
    }

    fileprivate func isElement(_ name: StaticString) -> Bool {
        guard first == UInt8(ascii: "<") else { return false }
        let rest = dropFirst()
        return name.withUTF8Buffer { name in
            guard rest.starts(with: name), let end = rest.dropFirst(name.count).first else { return false }
            return [0x20, 0x09, 0x0a, 0x0d, UInt8(ascii: ">"), UInt8(ascii: "/")].contains(end)
        }
    }
}
