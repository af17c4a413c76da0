package import SDDBase

// The parts of a JPEG and of a PNG that speak of colours.

extension PictureColour {
    /// Reads what a body says of its colours before its pixels.
    /// - Parameter coder: unpacks a profile.
    static func stated(
        by bytes: Bytes, _ facts: ImageFacts, _ coder: any ImageCoding, _ limits: DecodeLimits
    ) throws(CoderError) -> PictureColour? {
        let isGrey = facts.channels <= 2
        var description = try withExtendedLifetime(bytes) { () throws(CoderError) in
            guard facts.format == .png else { return ColourDescription(ofJPEG: bytes.pointer) }
            return try ColourDescription(ofPNG: bytes.pointer) { chunk throws(CoderError) in
                try coder.profile(unpacking: chunk, isGrey: isGrey, limits: limits)
            }
        }
        if description.isEmpty { return nil }
        description.isGrey = isGrey
        description.hasInks = facts.channels == 4 && facts.format == .jpeg
        return KnownColours.ofProcess.colour(of: description)
    }
}

extension ColourDescription {
    /// Reads the profile of a JPEG, from segments before the first scan (ICC.1:2022, B.4).
    fileprivate init(ofJPEG bytes: UnsafeRawBufferPointer) {
        var parts = ProfileParts()
        for segment in JPEGSegments(bytes) where segment.marker == JPEGSegments.app2 { parts.take(segment.data) }
        guard !parts.isEmpty, let made = try? parts.joined() else { return }
        profile = Self.usable(made)
    }

    /// Reads the chunks of a PNG before its pixels (PNG, Third Edition, 11.3.2).
    /// - Parameter unpack: returns the profile of an iCCP chunk.
    fileprivate init(
        ofPNG bytes: UnsafeRawBufferPointer, unpack: (UnsafeRawBufferPointer) throws(CoderError) -> Bytes?
    ) throws(CoderError) {
        var hasTried = false
        for chunk in PNGChunks(bytes) {
            if chunk.name == .IDAT || chunk.name == .IEND { return }
            switch chunk.name {
            // The first one counts, so that many that are damaged cost no more.
            case .iCCP where !hasTried:
                hasTried = true
                let unpacked = try unpack(UnsafeRawBufferPointer(rebasing: bytes[chunk.range]))
                profile = unpacked.flatMap { Self.usable($0) }
            case .cICP where codePoints == nil && chunk.isIntact: codePoints = CodePoints(chunk.data)
            // The rendering intent, one of four.
            case .sRGB where chunk.isIntact && chunk.data.first.map { $0 < 4 } ?? false: isSRGB = true
            case .gAMA where gamma == nil && chunk.isIntact:
                var cursor = ByteCursor(chunk.data)
                gamma = cursor.number32().flatMap { $0 > 0 ? $0 : nil }
            case .cHRM where chromaticities == nil && chunk.isIntact && chunk.data.count == 32:
                var cursor = ByteCursor(chunk.data)
                chromaticities = (0..<8).compactMap { _ in cursor.number32() }
            default: break
            }
        }
    }
}

extension PNGCoder {
    package func profile(
        unpacking chunk: UnsafeRawBufferPointer, isGrey: Bool, limits: DecodeLimits
    ) throws(CoderError) -> Bytes? {
        PNGChunk(in: chunk, at: 0).flatMap { try? MetadataBuilder.profile($0, isGrey: isGrey) }
    }
}

extension CodePoints {
    /// Reads cICP: primaries, transfer function, no matrix, and full range (PNG, Third Edition, 11.3.2.6).
    fileprivate init?(_ data: UnsafeRawBufferPointer) {
        guard data.count == 4, data[2] == 0, data[3] == 1 else { return nil }
        self.init(primaries: Int(data[0]), transfer: Int(data[1]))
    }
}

extension ColourNote {
    /// Returns what an encoded picture notes; `nil` if that is nothing.
    static func colour(in bytes: Bytes, _ format: ImageFormat) -> PictureColour? {
        withExtendedLifetime(bytes) { format == .png ? inPNG(bytes.pointer) : inJPEG(bytes.pointer) }
    }

    private static func inPNG(_ bytes: UnsafeRawBufferPointer) -> PictureColour? {
        for chunk in PNGChunks(bytes) {
            if chunk.name == .sdCo { return chunk.isIntact ? colour(chunk.data) : nil }
            if chunk.name == .IDAT { return nil }
        }
        return nil
    }

    private static func inJPEG(_ bytes: UnsafeRawBufferPointer) -> PictureColour? {
        var note: [UInt8] = []
        for segment in JPEGSegments(bytes) where segment.marker == JPEGSegments.app2 {
            if let part = segment.data.behind(name) { note += part }
        }
        return note.isEmpty ? nil : note.withUnsafeBytes { colour($0) }
    }
}
