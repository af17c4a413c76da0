internal import SDDBase

/// The colours that a picture in a cache had stated before it was converted to sRGB, scaled and encoded again: in a PNG a
/// chunk `sdCo`, in a JPEG segments APP2 that begin with the name. Other programs pass over both.
enum ColourNote {
    /// The name that a JPEG's segments begin with, with its NUL.
    static let name: StaticString = "libsdd colour\0"
    private static let version: UInt8 = 1
    /// Longest profile that is noted, in bytes: more would be larger than the thumbnails that have it. Of a picture with
    /// a longer one only the kind and the name are noted.
    private static let mostBytes = 16 << 10

    static func bytes(of colour: PictureColour) -> [UInt8] {
        var description = colour.description
        if (description.profile?.count ?? 0) > mostBytes { description.profile = nil }
        let points = description.codePoints
        let flags: UInt8 =
            (description.isSRGB ? 1 : 0) | (description.hasInks ? 2 : 0) | (description.isGrey ? 4 : 0)
            | (points?.isOfStills == true ? 8 : 0)
        var bytes = [version, UInt8(truncatingIfNeeded: colour.kind.rawValue), flags]
        bytes += [UInt8(clamping: points?.primaries ?? 0), UInt8(clamping: points?.transfer ?? 0)]
        for number in [description.gamma ?? 0] + (description.chromaticities ?? []) {
            withUnsafeBytes(of: UInt32(clamping: number).bigEndian) { bytes += $0 }
        }
        if description.chromaticities == nil { bytes += [UInt8](repeating: 0, count: 32) }
        bytes += (colour.name.pointer.map { String(cString: $0) } ?? "").utf8
        bytes.append(0)
        if let profile = description.profile { withExtendedLifetime(profile) { bytes += profile.pointer } }
        return bytes
    }

    /// Reads a note.
    static func colour(_ bytes: UnsafeRawBufferPointer) -> PictureColour? {
        var cursor = ByteCursor(bytes)
        guard cursor.number8() == Int(version), let number = cursor.number8(),
            let kind = PictureColour.Kind(rawValue: Int32(number)), let flags = cursor.number8(),
            let primaries = cursor.number8(), let transfer = cursor.number8(), let gamma = cursor.number32()
        else { return nil }
        var description = ColourDescription()
        (description.isSRGB, description.hasInks, description.isGrey) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0)
        if primaries > 0 || transfer > 0 {
            description.codePoints = CodePoints(
                primaries: primaries, transfer: transfer, isOfStills: flags & 8 != 0)
        }
        if gamma > 0 { description.gamma = gamma }
        let points = (0..<8).compactMap { _ in cursor.number32() }
        guard points.count == 8, let name = cursor.takeText() else { return nil }
        if points.contains(where: { $0 > 0 }) { description.chromaticities = points }
        let profile = cursor.takeRest()
        if !profile.isEmpty { description.profile = Bytes(copying: profile) }
        if let known = KnownColours.ofProcess.colour(of: description), known.kind == kind { return known.converted }
        return PictureColour.noted(kind, ICCProfile.printable(String(decoding: name, as: UTF8.self)))
    }
}
