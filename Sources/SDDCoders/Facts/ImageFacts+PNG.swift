/// Reads the chunks of a PNG (Third Edition, sections 5 and 11) up to the first IDAT chunk.
extension ImageFacts {
    private enum ColourType {
        static let grey = 0
        static let colour = 2
        static let palette = 3
        static let greyAlpha = 4
        static let colourAlpha = 6
    }

    static func png(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> ImageFacts {
        var cursor = ByteCursor(bytes)
        _ = cursor.take(ImageFormat.png.magicNumber.count)
        guard let first = try nextChunk(&cursor), first.name == .IHDR else { throw .malformed }
        var header = try Header(first.data)
        var animation: Animation?
        var orientation: Int?
        var isFrame = false
        while let chunk = try nextChunk(&cursor) {
            switch chunk.name {
            case .acTL: animation = animation ?? Animation(chunk.data)
            case .fcTL: isFrame = true
            case .eXIf: orientation = orientation ?? ExifOrientation.inBlock(chunk.data)
            case .tRNS: header.hasTransparency = true
            default: break
            }
        }
        var facts = try ImageFacts(
            format: .png, width: header.width, height: header.height, channels: header.channels, depth: header.depth,
            isProgressive: header.isInterlaced)
        facts.frameCount = animation?.frames ?? 1
        facts.loopCount = animation?.plays ?? 1
        facts.hidesStill = animation != nil && !isFrame
        facts.orientation = orientation ?? 1
        return facts
    }

    /// Returns the name and the data of a chunk; `nil` at the first IDAT chunk.
    private static func nextChunk(
        _ cursor: inout ByteCursor
    ) throws(Failure) -> (name: PNGChunkName?, data: UnsafeRawBufferPointer)? {
        guard let length = cursor.number32(), let code = cursor.number32() else { throw .incomplete }
        let name = PNGChunkName(rawValue: UInt32(truncatingIfNeeded: code))
        if name == .IDAT { return nil }
        // A length has at most 31 bits (5.3). No chunk follows IEND.
        guard length <= Int(Int32.max), name != .IEND else { throw .malformed }
        // The checksum is skipped here; the decoder verifies it.
        guard let data = cursor.take(length), cursor.take(4) != nil else { throw .incomplete }
        return (name, data)
    }

    /// The fields of IHDR (11.2.1).
    private struct Header {
        let width: Int
        let height: Int
        let isInterlaced: Bool
        var hasTransparency = false
        private let colourType: Int
        private let storedDepth: Int

        init(_ data: UnsafeRawBufferPointer) throws(Failure) {
            var cursor = ByteCursor(data)
            guard data.count == 13, let width = cursor.number32(), let height = cursor.number32(),
                let depth = cursor.number8(), let colourType = cursor.number8(), let compression = cursor.number8(),
                let filter = cursor.number8(), let interlace = cursor.number8(), compression == 0, filter == 0,
                interlace <= 1, Self.depths(of: colourType).contains(depth)
            else { throw .malformed }
            self.width = width
            self.height = height
            self.colourType = colourType
            storedDepth = depth
            isInterlaced = interlace == 1
        }

        private static func depths(of colourType: Int) -> [Int] {
            switch colourType {
            case ColourType.grey: [1, 2, 4, 8, 16]
            case ColourType.palette: [1, 2, 4, 8]
            case ColourType.colour, ColourType.greyAlpha, ColourType.colourAlpha: [8, 16]
            default: []
            }
        }

        /// Bits per channel of the visible colours; for a palette, not those of the indices.
        var depth: Int { colourType == ColourType.palette ? 8 : storedDepth }

        var channels: Int {
            switch colourType {
            case ColourType.grey: hasTransparency ? 2 : 1
            case ColourType.greyAlpha: 2
            case ColourType.colour, ColourType.palette: hasTransparency ? 4 : 3
            default: 4
            }
        }
    }

    /// The fields of acTL (11.3.6.1). If they are invalid, the picture is a still one.
    private struct Animation {
        let frames: Int
        let plays: Int

        init?(_ data: UnsafeRawBufferPointer) {
            var cursor = ByteCursor(data)
            let most = Int(Int32.max)
            guard data.count == 8, let frames = cursor.number32(), let plays = cursor.number32(),
                (1...most).contains(frames), plays <= most
            else { return nil }
            self.frames = frames
            self.plays = plays
        }
    }
}
