/// A JPEG with a gain map behind it, put together from two JPEGs, segments and an index (CIPA DC-007).
package struct GainMapFile {
    package enum Order { case bigEndian, littleEndian }

    package var base: [UInt8]
    package var map: [UInt8]
    /// Segments for each, behind SOI.
    package var baseSegments: [[UInt8]] = []
    package var mapSegments: [[UInt8]] = []
    package var order = Order.bigEndian
    /// What the index says of the map in place of the truth.
    package var offset: Int?
    package var size: Int?
    /// Other images that the index has before the map: places from the index, and sizes.
    package var others: [(offset: Int, size: Int)] = []

    package init(base: [UInt8], map: [UInt8]) {
        self.base = base
        self.map = map
    }

    /// Returns an application segment: its marker, length and bytes.
    package static func segment(_ marker: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [0xff, marker] + number16(bytes.count + 2) + bytes
    }

    package static func xmp(_ packet: String) -> [UInt8] {
        segment(0xe1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Array(packet.utf8))
    }

    /// Returns a segment of ISO 21496-1 with 32 bit numbers behind version and flags.
    package static func iso(flags: UInt8, _ numbers: [Int], version: Int = 0) -> [UInt8] {
        segment(0xe2, isoName + number16(version) + [0, 0, flags] + numbers.flatMap { number32($0) })
    }

    /// The segment of the picture itself, which has the versions alone.
    package static var isoAnnouncement: [UInt8] { segment(0xe2, isoName + [0, 0, 0, 0]) }

    private static let isoName = Array("urn:iso:std:iso:ts:21496:-1\0".utf8)

    /// Returns an Exif block with the two numbers in a maker note of Apple, as fractions.
    package static func makerNote(
        headroom: (Int, Int), gain: (Int, Int), type: Int = 10, order: Order = .bigEndian
    ) -> [UInt8] {
        var note = Array("Apple iOS\0".utf8) + [0, 1] + Array("MM".utf8) + number16(2)
        for (tag, place) in [(33, 44), (48, 52)] {
            note += number16(tag) + number16(type) + number32(1) + number32(place)
        }
        note += number32(0) + [headroom.0, headroom.1, gain.0, gain.1].flatMap { number32($0) }
        let ordered = { (bytes: [UInt8]) in order == .bigEndian ? bytes : bytes.reversed() }
        var block = Array((order == .bigEndian ? "MM" : "II").utf8) + ordered(number16(42)) + ordered(number32(8))
        for (tag, type, count, value) in [(0x8769, 4, 1, 26), (0x927c, 7, note.count, 44)] {
            block += ordered(number16(1)) + ordered(number16(tag)) + ordered(number16(type)) + ordered(number32(count))
            block += ordered(number32(value)) + number32(0)
        }
        return block + note
    }

    package var bytes: [UInt8] {
        let segments = baseSegments.flatMap { $0 }
        let wholeMap = Self.with(mapSegments.flatMap { $0 }, map)
        let indexSize = 4 + 4 + index(baseSize: 0, mapSize: 0, from: 0).count
        let baseSize = base.count + segments.count + indexSize
        // Behind SOI, the other segments, the marker, the length and "MPF\0".
        let origin = 2 + segments.count + 8
        let index = index(baseSize: baseSize, mapSize: size ?? wholeMap.count, from: origin)
        let all = segments + Self.segment(0xe2, Array("MPF\0".utf8) + index)
        return Self.with(all, base) + wholeMap
    }

    private static func with(_ segments: [UInt8], _ jpeg: [UInt8]) -> [UInt8] {
        Array(jpeg[..<2]) + segments + Array(jpeg[2...])
    }

    private func index(baseSize: Int, mapSize: Int, from origin: Int) -> [UInt8] {
        let count = 2 + others.count
        var made = order == .bigEndian ? Array("MM".utf8) : Array("II".utf8)
        let put16 = { (number: Int) in
            made += order == .bigEndian ? Self.number16(number) : Self.number16(number).reversed()
        }
        let put32 = { (number: Int) in
            made += order == .bigEndian ? Self.number32(number) : Self.number32(number).reversed()
        }
        put16(42)
        put32(8)
        put16(3)
        for (tag, type, size, value) in [
            (0xb000, 7, 4, 0x3031_3030), (0xb001, 4, 1, count), (0xb002, 7, 16 * count, 8 + 2 + 36 + 4),
        ] {
            put16(tag)
            put16(type)
            put32(size)
            put32(value)
        }
        put32(0)
        let images = [(offset: 0, size: baseSize)] + others + [(offset: offset ?? baseSize - origin, size: mapSize)]
        for image in images {
            put32(image.offset == 0 ? 0x0003_0000 : 0)
            put32(image.size)
            put32(image.offset)
            put32(0)
        }
        return made
    }

    package static func number16(_ number: Int) -> [UInt8] { [8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
    package static func number32(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
