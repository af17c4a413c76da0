/// The headroom of a picture by an Apple camera, from two numbers in the maker note of its Exif block
/// (https://developer.apple.com/documentation/appkit/applying-apple-hdr-effect-to-your-photos).
enum AppleHeadroom {
    /// More stops than any display has.
    private static let mostStops = 16.0

    /// Returns the headroom in stops; `nil` if the block does not say it.
    static func stops(inExif block: UnsafeRawBufferPointer) -> Double? {
        guard let note = makerNote(of: block), let rest = note.behind("Apple iOS\0"), rest.count > 4,
            rest[2] == UInt8(ascii: "M")
        else { return nil }
        // The directory stands behind the name, a version and "MM"; places in it count from the name.
        let entries = TIFFEntries(bytes: note, order: .bigEndian)
        guard let headroom = entries.fraction(33, at: 14), let gain = entries.fraction(48, at: 14) else { return nil }
        let stops: Double
        if headroom < 1 {
            stops = gain <= 0.01 ? -20 * gain + 1.8 : -0.101 * gain + 1.601
        } else {
            stops = gain <= 0.01 ? -70 * gain + 3 : -0.303 * gain + 2.303
        }
        return stops <= mostStops ? max(stops, 0) : nil
    }

    /// Returns the maker note of an Exif block (CIPA DC-008, 4.6.5).
    private static func makerNote(of block: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard block.count >= 8 else { return nil }
        let order = block[0] == UInt8(ascii: "I") ? ByteCursor.Order.littleEndian : .bigEndian
        var cursor = ByteCursor(block, order)
        guard cursor.take(2) != nil, cursor.number16() == 42, let first = cursor.number32() else { return nil }
        let entries = TIFFEntries(bytes: block, order: order)
        guard let exif = entries.entry(0x8769, at: first), let note = entries.entry(0x927c, at: exif.value) else {
            return nil
        }
        return entries.bytes(at: note.value, count: note.count)
    }
}

/// The entries of directories in a TIFF file (TIFF 6.0, section 2). A value.
private struct TIFFEntries {
    let bytes: UnsafeRawBufferPointer
    let order: ByteCursor.Order

    /// Finds an entry of a directory: its type, its number of values, and its value or the place of that.
    func entry(_ tag: Int, at directory: Int) -> (type: Int, count: Int, value: Int)? {
        var cursor = ByteCursor(bytes, order)
        guard cursor.skip(to: directory), let count = cursor.number16() else { return nil }
        for _ in 0..<count {
            guard let found = cursor.number16(), let type = cursor.number16(), let count = cursor.number32(),
                let value = cursor.number32()
            else { return nil }
            if found == tag { return (type, count, value) }
        }
        return nil
    }

    func bytes(at place: Int, count: Int) -> UnsafeRawBufferPointer? {
        var cursor = ByteCursor(bytes)
        return cursor.skip(to: place) ? cursor.take(count) : nil
    }

    /// Reads a fraction of two signed numbers, the type 10.
    func fraction(_ tag: Int, at directory: Int) -> Double? {
        guard let found = entry(tag, at: directory), found.type == 10, found.count == 1,
            let value = bytes(at: found.value, count: 8)
        else { return nil }
        var cursor = ByteCursor(value, order)
        guard let numerator = cursor.number32(), let denominator = cursor.number32(), denominator != 0 else {
            return nil
        }
        return Double(Int32(truncatingIfNeeded: numerator)) / Double(Int32(truncatingIfNeeded: denominator))
    }
}
