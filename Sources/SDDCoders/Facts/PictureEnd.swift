package import SDDBase

/// Checks whether a picture's data contains the end that its format defines: then none of it is missing, even if it is
/// unknown how it was transferred. Skips over the parts of a file by their lengths, and decodes nothing.
package enum PictureEnd {
    /// Whether the end is reached. Also false for formats whose end is not known here.
    package static func isReached(in bytes: Bytes) -> Bool {
        isReached(in: bytes.pointer)
    }

    static func isReached(in data: UnsafeRawBufferPointer) -> Bool {
        if data.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return hasIEND(data) }
        if data.starts(with: [0xFF, 0xD8, 0xFF]) { return hasEOI(data) }
        if data.starts(with: "GIF8".utf8) { return hasGIFTrailer(data) }
        if data.starts(with: "RIFF".utf8) { return hasAllOfRIFF(data) }
        return false
    }

    /// Returns the position after the `count` bytes at `position`, or `nil` if not all of them are present.
    private static func advanced(
        _ position: Int, by count: Int, in data: UnsafeRawBufferPointer
    ) -> Int? {
        let (next, overflow) = position.addingReportingOverflow(count)
        return overflow || count < 0 || next > data.count ? nil : next
    }

    private static func byte(_ data: UnsafeRawBufferPointer, at position: Int) -> UInt8? {
        position >= 0 && position < data.count ? data[position] : nil
    }
}

// MARK: - PNG: chunks, the last of them IEND

extension PictureEnd {
    private static func hasIEND(_ data: UnsafeRawBufferPointer) -> Bool {
        var position = 8
        while let kind = advanced(position, by: 4, in: data), let body = advanced(kind, by: 4, in: data) {
            let length = Int(data.loadUnaligned(fromByteOffset: position, as: UInt32.self).bigEndian)
            guard let sum = advanced(body, by: length, in: data), let next = advanced(sum, by: 4, in: data) else {
                return false
            }
            if data[kind..<body].elementsEqual("IEND".utf8) { return true }
            position = next
        }
        return false
    }
}

// MARK: - JPEG: segments, and coded data after SOS, in which FF is followed by 00 or a restart marker, up to EOI

extension PictureEnd {
    private static func hasEOI(_ data: UnsafeRawBufferPointer) -> Bool {
        var position = 2
        while let marker = nextMarker(data, &position) {
            switch marker {
            case 0xD9: return true
            case 0x01, 0xD0...0xD8: continue
            default:
                guard let end = advanced(position, by: 2, in: data) else { return false }
                let length = Int(data.loadUnaligned(fromByteOffset: position, as: UInt16.self).bigEndian)
                guard length >= 2, let next = advanced(end, by: length - 2, in: data) else { return false }
                position = next
            }
        }
        return false
    }

    /// Returns the next marker, skipping coded data, fill bytes and stuffed bytes.
    private static func nextMarker(_ data: UnsafeRawBufferPointer, _ position: inout Int) -> UInt8? {
        while let start = data[min(position, data.count)...].firstIndex(of: 0xFF) {
            position = start + 1
            guard let code = byte(data, at: position) else { return nil }
            if code == 0xFF { continue }
            position += 1
            if code != 0x00 { return code }
        }
        return nil
    }
}

// MARK: - GIF: blocks up to the trailer

extension PictureEnd {
    private static func hasGIFTrailer(_ data: UnsafeRawBufferPointer) -> Bool {
        guard let flags = byte(data, at: 10) else { return false }
        var position = 13 + colorTable(flags)
        while let kind = byte(data, at: position) {
            switch kind {
            case 0x3B: return true
            case 0x21: position += 2
            case 0x2C:
                guard let flags = byte(data, at: position + 9) else { return false }
                position += 11 + colorTable(flags)
            default: return false
            }
            guard skipBlocks(data, &position) else { return false }
        }
        return false
    }

    private static func colorTable(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }

    private static func skipBlocks(_ data: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
        while let length = byte(data, at: position) {
            position += 1 + Int(length)
            if length == 0 { return true }
        }
        return false
    }
}

// MARK: - WebP: one RIFF chunk that states the total size

extension PictureEnd {
    private static func hasAllOfRIFF(_ data: UnsafeRawBufferPointer) -> Bool {
        guard data.count >= 12 else { return false }
        let size = Int(data.loadUnaligned(fromByteOffset: 4, as: UInt32.self).littleEndian)
        return data[8..<12].elementsEqual("WEBP".utf8) && data.count - 8 >= size
    }
}
