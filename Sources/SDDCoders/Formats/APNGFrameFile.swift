internal import SDDBase

/// Writes one frame of an animated PNG as a PNG of its own, for the decoder of still pictures: the header with the
/// frame's size, the chunks that affect the pixels of all frames, and the frame's data as IDAT chunks. Used by one
/// thread.
struct APNGFrameFile {
    private let made = ByteBuilder()
    private let bytes: UnsafeRawBufferPointer

    /// - Parameters:
    ///   - frames: the parser that `frame` comes from.
    ///   - bytes: the file that `frames` has read.
    static func make(
        of frame: APNGFrame, among frames: APNGParser, in bytes: UnsafeRawBufferPointer
    ) throws(CoderError) -> Bytes {
        let file = APNGFrameFile(bytes: bytes)
        try file.add(ImageFormat.png.magicNumber)
        try file.addHeader(frames.header ?? 0..<0, frame.area)
        for range in frames.sharedChunks { try file.add(file.part(range)) }
        for chunk in PNGChunks(bytes, in: frame.data) { try file.addData(chunk) }
        try file.addChunk(.IEND)
        return file.made.take()
    }

    /// Adds an IHDR chunk (11.2.1) with the frame's width and height and the remaining fields of `header`.
    private func addHeader(_ header: Range<Int>, _ area: FrameArea) throws(CoderError) {
        let data = Self.digits(area.width) + Self.digits(area.height) + Array(part(header).dropFirst(8))
        try addChunk(.IHDR, data)
    }

    private func addData(_ chunk: PNGChunk) throws(CoderError) {
        switch chunk.name {
        // The chunk's checksum is copied, too: the decoder checks it.
        case .IDAT: try add(part(chunk.range))
        case .fdAT:
            guard chunk.isIntact else { throw CoderError(.corrupt, "fdAT: CRC error") }
            // The frame data starts after the sequence number.
            try addChunk(.IDAT, UnsafeRawBufferPointer(rebasing: chunk.data.dropFirst(4)))
        default: break
        }
    }

    private func addChunk(_ name: PNGChunkName, _ few: [UInt8] = []) throws(CoderError) {
        let named = Self.digits(Int(name.rawValue)) + few
        var sum = CRC32()
        named.withUnsafeBytes { sum.add($0) }
        try add(Self.digits(few.count) + named + Self.digits(Int(sum.value)))
    }

    private func addChunk(_ name: PNGChunkName, _ many: UnsafeRawBufferPointer) throws(CoderError) {
        let letters = Self.digits(Int(name.rawValue))
        var sum = CRC32()
        letters.withUnsafeBytes { sum.add($0) }
        sum.add(many)
        try add(Self.digits(many.count) + letters)
        try add(many)
        try add(Self.digits(Int(sum.value)))
    }

    private func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[range])
    }

    private static func digits(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    private func add(_ few: [UInt8]) throws(CoderError) {
        guard few.withUnsafeBytes({ append($0) }) else { throw CoderError(.noMemory) }
    }

    private func add(_ many: UnsafeRawBufferPointer) throws(CoderError) {
        guard append(many) else { throw CoderError(.noMemory) }
    }

    private func append(_ many: UnsafeRawBufferPointer) -> Bool {
        guard let start = many.baseAddress else { return true }
        return made.append(start, count: many.count)
    }
}
