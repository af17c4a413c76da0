/// Finds the orientation in an Exif block, which is a TIFF file without a picture (CIPA DC-008, 4.5 and 4.6.4; TIFF
/// 6.0, section 2).
enum ExifOrientation {
    /// The name that a segment of a JPEG has before its Exif block.
    static let name: StaticString = "Exif\0\0"

    /// Finds the orientation in an Exif block; returns `nil` if it has none or an invalid one.
    static func inBlock(_ block: UnsafeRawBufferPointer) -> Int? {
        guard let order = order(of: block) else { return nil }
        var cursor = ByteCursor(block, order)
        guard cursor.take(2) != nil, cursor.number16() == 42, let directory = cursor.number32(),
            directory >= cursor.offset, cursor.take(directory - cursor.offset) != nil, let count = cursor.number16()
        else { return nil }
        for _ in 0..<count {
            guard let tag = cursor.number16(), let type = cursor.number16(), let values = cursor.number32(),
                let value = cursor.number16(), cursor.take(2) != nil
            else { return nil }
            if tag == Tag.orientation {
                return type == Tag.short && values == 1 && (1...8).contains(value) ? value : nil
            }
        }
        return nil
    }

    private enum Tag {
        static let orientation = 0x0112
        static let short = 3
    }

    private static func order(of block: UnsafeRawBufferPointer) -> ByteCursor.Order? {
        guard block.count >= 2 else { return nil }
        switch (block[0], block[1]) {
        case (UInt8(ascii: "M"), UInt8(ascii: "M")): return .bigEndian
        case (UInt8(ascii: "I"), UInt8(ascii: "I")): return .littleEndian
        default: return nil
        }
    }
}
