/// Makes gzip members (RFC 1952) without a compressor: stored blocks, and one pattern that unpacks to more than a
/// thousand times its size.
enum Gzip {
    static let headerSize = 10
    static let trailerSize = 8

    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]

    /// Returns the bytes in stored blocks (RFC 1951 §3.2.4).
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var packed = header
        var offset = 0
        repeat {
            let count = min(65_535, bytes.count - offset)
            packed.append(offset + count == bytes.count ? 1 : 0)
            packed += littleEndian(UInt16(count)) + littleEndian(~UInt16(count))
            packed += bytes[offset..<(offset + count)]
            offset += count
        } while offset < bytes.count
        return packed + trailer(crc: CRC32.of(bytes), count: bytes.count)
    }

    /// Returns one byte repeated `count` times, in a block with fixed codes (RFC 1951 §3.2.6).
    static func repeated(count: Int) -> [UInt8] {
        let byte: UInt8 = 0xFF
        var bits = BitWriter(bytes: header)
        bits.append(0b011, count: 3)  // last block, fixed codes
        // Five literals of nine bits bring the stream to a byte boundary, so that the matches below repeat bytewise.
        // The code of a literal of 144 and above is 400 + (literal - 144), of one below 48 + literal.
        let literals = min(count, 5)
        for _ in 0..<literals { bits.appendCode(400 + UInt32(byte) - 144, count: 9) }
        // Eight matches of length 258 and distance 1 take 8 * 13 bits: 13 bytes.
        let matches = (count - literals) / 258
        var eight = BitWriter(bytes: [])
        for _ in 0..<8 { eight.appendMatch() }
        for _ in 0..<(matches / 8) { bits.bytes += eight.bytes }
        for _ in 0..<(matches % 8) { bits.appendMatch() }
        for _ in 0..<((count - literals) % 258) { bits.appendCode(400 + UInt32(byte) - 144, count: 9) }
        bits.appendCode(0, count: 7)  // end of block
        return bits.bytes + trailer(crc: CRC32.ofRepeated(byte, count: count), count: count)
    }

    private static func trailer(crc: UInt32, count: Int) -> [UInt8] {
        littleEndian(crc) + littleEndian(UInt32(truncatingIfNeeded: count))
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}

/// Packs bits into bytes as deflate does, from the lowest bit up.
private struct BitWriter {
    var bytes: [UInt8]
    private var used = 0  // number of bits used in the last byte; 0 when it is full

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Appends a number, lowest bit first.
    mutating func append(_ bits: UInt32, count: Int) {
        for index in 0..<count {
            if used == 0 { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(bits >> UInt32(index) & 1) << UInt8(used)
            used = (used + 1) % 8
        }
    }

    /// Appends a Huffman code, highest bit first.
    mutating func appendCode(_ code: UInt32, count: Int) {
        for index in (0..<count).reversed() { append(code >> UInt32(index) & 1, count: 1) }
    }

    /// Appends a match. Length 258 is symbol 285 (code 192 + 285 - 280, eight bits, no extra bits); distance 1 is code
    /// 0.
    mutating func appendMatch() {
        appendCode(197, count: 8)
        appendCode(0, count: 5)
    }
}

/// The checksum that gzip and PNG use.
package enum CRC32 {
    private static let polynomial: UInt32 = 0xEDB8_8320

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value >> 1 ^ (value & 1 == 0 ? 0 : polynomial) }
    }

    package static func of(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { crc, byte in crc >> 8 ^ table[Int((crc ^ UInt32(byte)) & 0xFF)] }
    }

    /// Returns the checksum of `count` equal bytes in a number of steps that is logarithmic in `count`, so that a bomb
    /// of gigabytes takes no time.
    static func ofRepeated(_ byte: UInt8, count: Int) -> UInt32 {
        var crc: UInt32 = 0  // checksum of the bytes so far; 0 for no bytes
        var block = of([byte])  // checksum of 1, 2, 4, ... bytes
        var shift: UInt32 = 0x0080_0000  // x^8, x^16, x^32, ...: the factor that moves a checksum past such a block
        var rest = count
        while rest > 0 {
            // The checksum of a followed by b is that of a, moved past b, plus that of b.
            if rest & 1 == 1 { crc = product(crc, shift) ^ block }
            block = product(block, shift) ^ block
            shift = product(shift, shift)
            rest >>= 1
        }
        return crc
    }

    /// Multiplies two polynomials modulo that of the CRC; the highest bit is the coefficient of x^0.
    private static func product(_ a: UInt32, _ b: UInt32) -> UInt32 {
        var product: UInt32 = 0
        var b = b
        for bit in (0..<32).reversed() {
            if a >> UInt32(bit) & 1 == 1 { product ^= b }
            b = b >> 1 ^ (b & 1 == 0 ? 0 : polynomial)
        }
        return product
    }
}
