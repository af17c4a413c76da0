internal import SDDBase

extension GainMap {
    /// Images of a multi-picture file that are looked at; known files have up to four.
    private static let mostImages = 16
    private static let isoName: StaticString = "urn:iso:std:iso:ts:21496:-1\0"
    private static let xmpName: StaticString = "http://ns.adobe.com/xap/1.0/\0"

    /// Finds the gain map of a JPEG. It is one of the other images of a multi-picture file (CIPA DC-007), and its own
    /// segments describe it: by ISO 21496-1, which goes before, or in XMP.
    /// - Returns: `nil` if there is none.
    /// - Throws: `.truncated` if the map lies behind the end, `.corrupt` if nothing describes it, although the picture
    ///   says that it has one.
    package static func find(inJPEG bytes: UnsafeRawBufferPointer) throws(CoderError) -> GainMap? {
        let picture = Picture(bytes)
        var found: GainMap?
        for place in picture.others where place.upperBound <= bytes.count {
            let jpeg = UnsafeRawBufferPointer(rebasing: bytes[place])
            guard var map = described(by: jpeg, exif: picture.exif) else { continue }
            map.place = place
            if found == nil || map.kind == .iso && found?.kind != .iso { found = map }
        }
        if found == nil, picture.announcesMap {
            let isCut = picture.others.contains { $0.upperBound > bytes.count }
            throw CoderError(isCut ? .truncated : .corrupt, "the gain map that it announces cannot be read")
        }
        return found
    }

    /// What the segments of the picture itself say. A value; the bytes must outlive it.
    private struct Picture {
        /// Where the other images lie.
        private(set) var others: [Range<Int>] = []
        private(set) var announcesMap = false
        private(set) var exif: UnsafeRawBufferPointer?
        private var hasPacket = false

        init(_ bytes: UnsafeRawBufferPointer) {
            for segment in JPEGSegments(bytes) {
                switch segment.marker {
                case JPEGSegments.app1: takeMetadata(segment.data)
                case JPEGSegments.app2:
                    if segment.data.behind(isoName) != nil { announcesMap = true }
                    if others.isEmpty, let index = segment.data.behind("MPF\0"), let start = index.baseAddress,
                        let first = bytes.baseAddress
                    {
                        others = otherImages(index, at: start - first)
                    }
                default: break
                }
            }
        }

        private mutating func takeMetadata(_ data: UnsafeRawBufferPointer) {
            if let packet = data.behind(xmpName) {
                if !hasPacket, XMPPacket(packet).prefix(of: adobe) != nil { announcesMap = true }
                hasPacket = true
            } else if exif == nil {
                exif = data.behind("Exif\0\0")
            }
        }
    }

    /// Reads the index of a multi-picture file, which begins as a TIFF file does (CIPA DC-007, 5.2).
    /// - Parameter origin: where the index lies; the places that it gives count from there.
    private static func otherImages(_ index: UnsafeRawBufferPointer, at origin: Int) -> [Range<Int>] {
        guard index.count >= 8 else { return [] }
        var cursor = ByteCursor(index, index[0] == UInt8(ascii: "I") ? .littleEndian : .bigEndian)
        guard cursor.take(2) != nil, cursor.number16() == 42, let directory = cursor.number32(),
            cursor.skip(to: directory), let count = cursor.number16()
        else { return [] }
        for _ in 0..<count {
            guard let tag = cursor.number16(), cursor.number16() != nil, let size = cursor.number32(),
                let place = cursor.number32()
            else { return [] }
            if tag == 0xb002 { return entries(&cursor, at: place, count: size / 16, origin) }
        }
        return []
    }

    private static func entries(_ cursor: inout ByteCursor, at place: Int, count: Int, _ origin: Int) -> [Range<Int>] {
        guard cursor.skip(to: place) else { return [] }
        var places: [Range<Int>] = []
        for _ in 0..<min(count, mostImages) {
            guard cursor.take(4) != nil, let size = cursor.number32(), let offset = cursor.number32(),
                cursor.take(4) != nil
            else { break }
            // The first image, the picture itself, has the place 0. Numbers of 32 bits cannot overflow here.
            if offset > 0, size > 0 { places.append(origin + offset..<origin + offset + size) }
        }
        return places
    }

    /// Reads what a map says of itself. A JPEG has one packet of XMP (ISO 16684-3), so that further ones, each of
    /// which takes several searches, are not looked at.
    /// - Parameter exif: the Exif block of the picture.
    private static func described(by jpeg: UnsafeRawBufferPointer, exif: UnsafeRawBufferPointer?) -> GainMap? {
        guard jpeg.starts(with: [0xff, 0xd8]) else { return nil }
        var inXMP: GainMap?
        var hasPacket = false
        for segment in JPEGSegments(jpeg) {
            if segment.marker == JPEGSegments.app2, let bytes = segment.data.behind(isoName),
                let map = GainMap(iso: bytes)
            {
                return map
            }
            if !hasPacket, segment.marker == JPEGSegments.app1, let packet = segment.data.behind(xmpName) {
                inXMP = GainMap(xmp: XMPPacket(packet), exif: exif)
                hasPacket = true
            }
        }
        return inXMP
    }
}
