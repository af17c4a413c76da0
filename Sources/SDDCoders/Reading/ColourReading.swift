internal import CPNG
internal import SDDBase

// The parts of a JPEG and of a PNG that speak of colours.

extension PictureColour {
    /// Reads what a body says of its colours before its pixels.
    static func stated(by bytes: Bytes, _ facts: ImageFacts) -> PictureColour? {
        let isGrey = facts.channels <= 2
        var description = withExtendedLifetime(bytes) {
            facts.format == .png
                ? ColourDescription(ofPNG: bytes.pointer, isGrey: isGrey) : ColourDescription(ofJPEG: bytes.pointer)
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
    fileprivate init(ofPNG bytes: UnsafeRawBufferPointer, isGrey: Bool) {
        var hasTried = false
        for chunk in PNGChunks(bytes) {
            if chunk.name == .IDAT || chunk.name == .IEND { return }
            switch chunk.name {
            // The first one counts, so that many that are damaged cost no more.
            case .iCCP where !hasTried:
                hasTried = true
                profile = (try? MetadataBuilder.profile(chunk, isGrey: isGrey)).flatMap { Self.usable($0) }
            case .cICP where codePoints == nil && chunk.isIntact: codePoints = CodePoints(chunk.data)
            case .sRGB where chunk.isIntact: isSRGB = true
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
