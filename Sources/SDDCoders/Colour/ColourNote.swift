internal import SDDBase

/// What a picture in a cache said of its colours before it was converted to sRGB, scaled and encoded again: in a PNG a
/// chunk `sdCo`, in a JPEG segments APP2 that begin with the name. Other programs pass over both.
enum ColourNote {
    /// The name that a JPEG's segments begin with, with its NUL.
    static let name: StaticString = "libsdd colour\0"
    private static let version: UInt8 = 1
    /// Longest profile that is kept in a note.
    private static let mostBytes = 1 << 20

    /// Returns a note; it is empty if there is too much to note.
    static func bytes(of description: ColourDescription) -> [UInt8] {
        guard (description.profile?.count ?? 0) <= mostBytes else { return [] }
        let points = description.codePoints
        let flags: UInt8 =
            (description.isSRGB ? 1 : 0) | (description.hasInks ? 2 : 0) | (description.isGrey ? 4 : 0)
            | (points?.isOfStills == true ? 8 : 0)
        var bytes = [version, flags]
        bytes += [UInt8(clamping: points?.primaries ?? 0), UInt8(clamping: points?.transfer ?? 0)]
        for number in [description.gamma ?? 0] + (description.chromaticities ?? []) {
            withUnsafeBytes(of: UInt32(clamping: number).bigEndian) { bytes += $0 }
        }
        if description.chromaticities == nil { bytes += [UInt8](repeating: 0, count: 32) }
        if let profile = description.profile { withExtendedLifetime(profile) { bytes += profile.pointer } }
        return bytes
    }

    /// Reads a note.
    static func description(_ bytes: UnsafeRawBufferPointer) -> ColourDescription? {
        var cursor = ByteCursor(bytes)
        guard cursor.number8() == Int(version), let flags = cursor.number8(), let primaries = cursor.number8(),
            let transfer = cursor.number8(), let gamma = cursor.number32()
        else { return nil }
        var description = ColourDescription()
        (description.isSRGB, description.hasInks, description.isGrey) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0)
        if primaries > 0 || transfer > 0 {
            description.codePoints = CodePoints(
                primaries: primaries, transfer: transfer, isOfStills: flags & 8 != 0)
        }
        if gamma > 0 { description.gamma = gamma }
        let points = (0..<8).compactMap { _ in cursor.number32() }
        guard points.count == 8 else { return nil }
        if points.contains(where: { $0 > 0 }) { description.chromaticities = points }
        let profile = cursor.takeRest()
        if !profile.isEmpty { description.profile = Bytes(copying: profile) }
        return description
    }

    /// Returns what an encoded picture notes; `nil` if that is nothing.
    static func colour(in bytes: Bytes, _ format: ImageFormat) -> PictureColour? {
        let description = withExtendedLifetime(bytes) {
            format == .png ? inPNG(bytes.pointer) : inJPEG(bytes.pointer)
        }
        return description.flatMap { KnownColours.ofProcess.colour(of: $0) }?.converted
    }

    private static func inPNG(_ bytes: UnsafeRawBufferPointer) -> ColourDescription? {
        for chunk in PNGChunks(bytes) {
            if chunk.name == .sdCo { return chunk.isIntact ? description(chunk.data) : nil }
            if chunk.name == .IDAT { return nil }
        }
        return nil
    }

    private static func inJPEG(_ bytes: UnsafeRawBufferPointer) -> ColourDescription? {
        var note: [UInt8] = []
        for segment in JPEGSegments(bytes) where segment.marker == JPEGSegments.app2 {
            if let part = segment.data.behind(name) { note += part }
        }
        return note.isEmpty ? nil : note.withUnsafeBytes { description($0) }
    }
}
