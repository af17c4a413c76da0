package import SDDBase

/// Writes an Exif orientation into a JPEG or a PNG that the library has encoded.
package enum OrientationWriting {
    /// Returns a copy of the picture with the orientation.
    /// - Parameter orientation: 1 to 8.
    package static func add(_ orientation: Int, to picture: Bytes) throws(EncodeError) -> Bytes {
        let block = block(orientation)
        let builder = ByteBuilder()
        let isPNG = withExtendedLifetime(picture) { ImageFormat(magicNumberOf: picture.pointer) == .png }
        // Behind the header of a PNG (11.2.1), or the marker that begins a JPEG.
        let (place, part) = isPNG ? (8 + 25, chunk(block)) : (2, segment(block))
        let isMade = withExtendedLifetime(picture) {
            guard let first = picture.pointer.baseAddress, picture.count > place else { return false }
            return builder.append(first, count: place)
                && part.withUnsafeBytes { builder.append($0.baseAddress!, count: $0.count) }
                && builder.append(first + place, count: picture.count - place)
        }
        guard isMade else { throw .noMemory }
        return builder.take()
    }

    /// Returns a TIFF structure with the orientation alone (CIPA DC-008, 4.5 and 4.6.4).
    private static func block(_ orientation: Int) -> [UInt8] {
        let entry: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(clamping: orientation), 0, 0]
        return Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1] + entry + [0, 0, 0, 0]
    }

    private static func segment(_ block: [UInt8]) -> [UInt8] {
        let data = Array("Exif\0\0".utf8) + block
        return [0xff, 0xe1, 0, UInt8(data.count + 2)] + data
    }

    private static func chunk(_ block: [UInt8]) -> [UInt8] {
        let digits = { (number: UInt32) in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        let named = digits(PNGChunkName.eXIf.rawValue) + block
        var sum = CRC32()
        named.withUnsafeBytes { sum.add($0) }
        return digits(UInt32(block.count)) + named + digits(sum.value)
    }
}
