/// The chunks that somebody here looks into, by the four letters of their names as one number.
enum PNGChunkName: UInt32 {
    case IHDR = 0x4948_4452
    case PLTE = 0x504c_5445
    case tRNS = 0x7452_4e53
    case IDAT = 0x4944_4154
    case IEND = 0x4945_4e44
    case acTL = 0x6163_544c
    case fcTL = 0x6663_544c
    case fdAT = 0x6664_4154
    case iCCP = 0x6943_4350
    case eXIf = 0x6558_4966
    case tEXt = 0x7445_5874
    case zTXt = 0x7a54_5874
    case iTXt = 0x6954_5874
}

/// One chunk among a PNG's bytes (PNG, Third Edition, 5.3): length, name, data, check sum.
struct PNGChunk {
    /// Among all the bytes, from its length on. Of one that is cut, as far as they go.
    let range: Range<Int>
    /// nil for all that nobody here looks into.
    let name: PNGChunkName?
    let data: UnsafeRawBufferPointer
    /// The bytes go on to the end of its check sum.
    let isWhole: Bool
    private let named: UnsafeRawBufferPointer
    private let checkSum: UInt32

    /// nil where no chunk can begin, or too little of it is there to have a name.
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

    /// Whole, and with the right check sum.
    var isIntact: Bool {
        guard isWhole else { return false }
        var sum = CRC32()
        sum.add(named)
        return sum.value == checkSum
    }
}

/// The chunks of a PNG, one after the other, as far as there are bytes: the last may be cut.
struct PNGChunks: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var offset: Int

    /// - Parameter bytes: with the signature; without one there are no chunks.
    init(_ bytes: UnsafeRawBufferPointer) {
        let signature = ImageFormat.png.magicNumber
        self.bytes = bytes
        offset = bytes.starts(with: signature) ? signature.count : bytes.count
    }

    /// Those of a part of the bytes, where one begins.
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
