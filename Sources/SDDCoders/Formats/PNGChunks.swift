/// One chunk of a PNG (Third Edition, 5.3): length, name, data, checksum.
struct PNGChunk {
    /// The chunk's byte range in the file, from its length on; up to the end of the bytes if the chunk is truncated.
    let range: Range<Int>
    /// The chunk's name; `nil` for chunks that this module does not read.
    let name: PNGChunkName?
    let data: UnsafeRawBufferPointer
    /// True if the bytes include the chunk's checksum.
    let isWhole: Bool
    private let named: UnsafeRawBufferPointer
    private let checkSum: UInt32

    /// Returns `nil` if no chunk can begin at `offset`, or if its name has not arrived.
    init?(in bytes: UnsafeRawBufferPointer, at offset: Int) {
        var cursor = ByteCursor(bytes)
        guard cursor.take(offset) != nil, let length = cursor.number32(), length <= Int(Int32.max) else { return nil }
        let start = cursor.offset
        guard let code = cursor.number32() else { return nil }
        name = PNGChunkName(rawValue: UInt32(truncatingIfNeeded: code))
        let count = min(length, bytes.count - cursor.offset)
        data = UnsafeRawBufferPointer(rebasing: bytes[cursor.offset..<cursor.offset + count])
        named = UnsafeRawBufferPointer(rebasing: bytes[start..<cursor.offset + count])
        _ = cursor.take(count)
        let sum = count == length ? cursor.number32() : nil
        checkSum = UInt32(truncatingIfNeeded: sum ?? 0)
        isWhole = sum != nil
        range = offset..<(isWhole ? cursor.offset : bytes.count)
    }

    /// True if the chunk is complete and its checksum is right.
    var isIntact: Bool {
        guard isWhole else { return false }
        var sum = CRC32()
        sum.add(named)
        return sum.value == checkSum
    }
}

/// The chunks of a PNG in order, as far as there are bytes; the last one may be truncated.
struct PNGChunks: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var offset: Int

    /// - Parameter bytes: the file with its signature; without the signature there are no chunks.
    init(_ bytes: UnsafeRawBufferPointer) {
        let signature = ImageFormat.png.magicNumber
        self.bytes = bytes
        offset = bytes.starts(with: signature) ? signature.count : bytes.count
    }

    /// Iterates over the chunks of a part of the bytes that begins with a chunk.
    init(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) {
        self.bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(range.upperBound))
        offset = range.lowerBound
    }

    mutating func next() -> PNGChunk? {
        guard let chunk = PNGChunk(in: bytes, at: offset) else { return nil }
        offset = chunk.range.upperBound
        return chunk
    }
}
