internal import SDDBase

/// The file format of an incomplete body. Pure: converts bytes to values and back. A head is followed by the body in
/// the pieces in which it came:
///
///     magic 8, version 4, lengths of key and validator 4 4, followed by these two, XXH64 of everything above 8
///     for each piece: length 4, XXH64 of the bytes 8, the bytes; the seed of the sum is the piece's offset in the body
enum PartFormat {
    static let version: UInt32 = 2
    private static let magic: UInt64 = 0x7364_642d_7061_7274  // "sdd-part"
    private static let pieceHead = 12
    /// The longest key and the longest validator: they consist of header fields and URLs.
    private static let longest = 1 << 20

    /// Returns the encoded head; nil if it would be too long.
    static func head(key: String, validator: [UInt8], version: UInt32 = Self.version) -> [UInt8]? {
        guard key.utf8.count <= longest, validator.count <= longest else { return nil }
        var bytes: [UInt8] = []
        bytes.append(number: magic)
        bytes.append(number: version)
        bytes.append(number: UInt32(key.utf8.count))
        bytes.append(number: UInt32(validator.count))
        bytes += key.utf8
        bytes += validator
        bytes.append(number: bytes.withUnsafeBytes { XXH64.sum(of: $0) })
        return bytes
    }

    static func pieceHead(of bytes: UnsafeRawBufferPointer, at offset: Int64) -> [UInt8] {
        var head: [UInt8] = []
        head.append(number: UInt32(clamping: bytes.count))
        head.append(number: XXH64.sum(of: bytes, seed: UInt64(bitPattern: offset)))
        return head
    }

    /// The undamaged content of a file.
    struct Reading {
        let validator: [UInt8]
        /// The ranges of the pieces in the file, in order.
        let pieces: [Range<Int>]
        let bodyLength: Int
        /// The length of the file up to the end of the last undamaged piece.
        let goodLength: Int

        /// Decodes a file; returns nil if it is not a part of this key.
        init?(_ file: UnsafeRawBufferPointer, key: String) {
            var reading = BytesReading(file)
            guard reading.number() == PartFormat.magic, reading.number() == PartFormat.version,
                let keyLength: UInt32 = reading.number(), let validatorLength: UInt32 = reading.number(),
                let storedKey = reading.take(Int(keyLength)), let validator = reading.take(Int(validatorLength)),
                storedKey.elementsEqual(key.utf8)
            else { return nil }
            let headLength = 20 + Int(keyLength) + Int(validatorLength)
            guard reading.number() == XXH64.sum(of: UnsafeRawBufferPointer(rebasing: file[..<headLength])) else {
                return nil
            }
            self.validator = Array(validator)
            (pieces, bodyLength) = Self.pieces(&reading, from: headLength + 8)
            goodLength = pieces.last?.upperBound ?? headLength + 8
        }

        private static func pieces(_ reading: inout BytesReading, from start: Int) -> ([Range<Int>], Int) {
            var pieces: [Range<Int>] = []
            var body = 0
            var place = start
            while let length: UInt32 = reading.number(), let sum: UInt64 = reading.number(),
                let bytes = reading.take(Int(length)), XXH64.sum(of: bytes, seed: UInt64(body)) == sum
            {
                place += PartFormat.pieceHead + bytes.count
                pieces.append((place - bytes.count)..<place)
                body += bytes.count
            }
            return (pieces, body)
        }
    }
}
