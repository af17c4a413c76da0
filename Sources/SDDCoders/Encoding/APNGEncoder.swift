internal import SDDBase

/// Writes animated PNGs (PNG, Third Edition, 4.9 and 11.3.6): RGBA with 8 bits a channel, of each frame the part that
/// differs from the frame before. Used by one thread.
struct APNGEncoder {
    private let out = ByteBuilder()
    private let encoder: PNGEncoder
    private var sequence = 0
    private var before: PixelBuffer?

    static func encode(_ frames: FrameFeed) throws(EncodeError) -> Bytes {
        var writer = APNGEncoder(encoder: try PNGEncoder())
        while let frame = try frames.next() {
            if writer.before == nil { try writer.begin(frame.pixels, frames) }
            try writer.add(frame.pixels, frame.duration)
        }
        try writer.addChunk(.IEND, [])
        return writer.out.take()
    }

    private init(encoder: PNGEncoder) { self.encoder = encoder }

    private func begin(_ first: PixelBuffer, _ frames: FrameFeed) throws(EncodeError) {
        try add(ImageFormat.png.magicNumber)
        // 8 bits a channel, with alpha; deflate, adaptive filters, not interlaced.
        try addChunk(.IHDR, Self.digits(first.width) + Self.digits(first.height) + [8, 6, 0, 0, 0])
        try addChunk(.acTL, Self.digits(frames.frameCount) + Self.digits(frames.loopCount))
    }

    private mutating func add(_ frame: PixelBuffer, _ duration: Int64) throws(EncodeError) {
        guard before == nil || (before?.width, before?.height) == (frame.width, frame.height) else {
            throw .unsupported
        }
        let area = before.map { Self.difference(of: frame, from: $0) } ?? FrameArea(of: frame)
        let (numerator, denominator) = Self.fraction(duration)
        let control = [area.width, area.height, area.x, area.y].flatMap { Self.digits($0) }
        // The area stays as it is for the next frame, and replaces what was there.
        try addChunk(
            .fcTL, takeNumber() + control + Self.digits(numerator << 16 | denominator) + [0, 0])
        let part = try area == FrameArea(of: frame) ? frame : Self.part(area, of: frame)
        let png = try encoder.encode(part, isOpaque: false, StoredColour())
        let isPicture = before == nil
        // Safety: `png` lives until the loop has ended.
        for chunk in PNGChunks(png.pointer) where chunk.name == .IDAT {
            if isPicture {
                try addChunk(.IDAT, Array(chunk.data))
            } else {
                try addChunk(.fdAT, takeNumber() + Array(chunk.data))
            }
        }
        withExtendedLifetime(png) {}
        before = frame
    }

    private mutating func takeNumber() -> [UInt8] {
        sequence += 1
        return Self.digits(sequence - 1)
    }

    private func addChunk(_ name: PNGChunkName, _ data: [UInt8]) throws(EncodeError) {
        let named = Self.digits(Int(name.rawValue)) + data
        var sum = CRC32()
        named.withUnsafeBytes { sum.add($0) }
        try add(Self.digits(data.count) + named + Self.digits(Int(sum.value)))
    }

    private func add(_ bytes: [UInt8]) throws(EncodeError) {
        guard bytes.withUnsafeBytes({ out.append($0.baseAddress!, count: $0.count) }) else { throw .noMemory }
    }

    private static func digits(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    /// Returns a duration in microseconds as a fraction of seconds, of two numbers with 16 bits: the first from which a
    /// reader that rounds down gets it back, thousandths before others; or else the nearest.
    static func fraction(_ microseconds: Int64) -> (numerator: Int, denominator: Int) {
        let most = Int64(UInt16.max)
        var (nearest, least) = microseconds < 1000 ? ((0, 1000), microseconds) : ((Int(most), 1), Int64.max)
        for denominator in [1000] + Array(1...most) where microseconds / 1_000_000 <= most / denominator {
            // No overflow: the product is below the square of 2^16, in microseconds.
            let numerator = min((microseconds * denominator + 999_999) / 1_000_000, most)
            let error = abs(numerator * 1_000_000 / denominator - microseconds)
            if error < least { (nearest, least) = ((Int(numerator), Int(denominator)), error) }
            if error == 0 { break }
        }
        return nearest
    }
}

// MARK: - Parts of frames

extension APNGEncoder {
    /// Returns the smallest area that contains all pixels which differ, at least one pixel.
    private static func difference(of frame: PixelBuffer, from before: PixelBuffer) -> FrameArea {
        var (left, right, top, bottom) = (frame.width, -1, frame.height, -1)
        for y in 0..<frame.height {
            // Safety: both have as many rows, of as many pixels of 4 bytes.
            let row = frame.base + y * frame.stride, other = before.base + y * before.stride
            let differs = { (x: Int) in
                row.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self)
                    != other.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self)
            }
            guard let first = (0..<frame.width).first(where: differs),
                let last = (0..<frame.width).last(where: differs)
            else { continue }
            (left, right) = (min(left, first), max(right, last))
            (top, bottom) = (min(top, y), y)
        }
        if right < 0 { return FrameArea(x: 0, y: 0, width: 1, height: 1) }
        return FrameArea(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }

    private static func part(_ area: FrameArea, of frame: PixelBuffer) throws(EncodeError) -> PixelBuffer {
        guard let made = PixelBuffer(width: area.width, height: area.height) else { throw .noMemory }
        for y in 0..<area.height {
            // Safety: the area lies within the frame.
            let row = frame.base + (area.y + y) * frame.stride + area.x * 4
            (made.base + y * made.stride).copyMemory(from: row, byteCount: area.width * 4)
        }
        return made
    }
}

extension FrameArea {
    fileprivate init(of frame: PixelBuffer) { self.init(x: 0, y: 0, width: frame.width, height: frame.height) }
}

extension FrameFeed {
    /// Returns the next frame for an encoder of the library.
    fileprivate func next() throws(EncodeError) -> (pixels: PixelBuffer, duration: Int64)? {
        do throws(CoderError) { return try nextFrame() } catch { throw .frame(error) }
    }
}
