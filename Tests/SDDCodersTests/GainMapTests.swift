import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

@Suite struct GainMapTests {
    private let xmp = """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"
        hdrgm:GainMapMin="-0.5" hdrgm:GainMapMax = '2.25' hdrgm:Gamma="1.5" hdrgm:HDRCapacityMax="2.3"
        hdrgm:OffsetSDR="0.01"/></rdf:RDF></x:xmpmeta>
        """
    private let apple = """
        <rdf:Description xmlns:apdi="http://ns.apple.com/pixeldatainfo/1.0/"
        xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/">
        <apdi:AuxiliaryImageType>urn:com:apple:photo:2020:aux:hdrgainmap</apdi:AuxiliaryImageType>
        <HDRGainMap:HDRGainMapVersion>131072</HDRGainMap:HDRGainMapVersion>
        <HDRGainMap:HDRGainMapHeadroom>8</HDRGainMap:HDRGainMapHeadroom></rdf:Description>
        """
    /// Headrooms 0 and 2; -1/2 to 9/4, gamma 3/2, offsets 1/64 and -1/32.
    private let iso = GainMapFile.iso(flags: 0x40, [0, 1, 2, 1, -1, 2, 9, 4, 3, 2, 1, 64, -1, 32])

    private func file(_ mapSegments: [UInt8]...) throws -> GainMapFile {
        var file = try GainMapFile(
            base: Fixtures.array("jpeg/baseline-420.jpg"), map: Fixtures.array("jpeg/grey.jpg"))
        file.mapSegments = mapSegments
        return file
    }

    private func found(_ bytes: [UInt8]) throws -> GainMap? {
        try bytes.withUnsafeBytes { try GainMap.find(inJPEG: $0) }
    }

    private func kind(of bytes: [UInt8]) -> CoderError.Kind? {
        do { _ = try found(bytes) } catch { return (error as? CoderError)?.kind }
        return nil
    }

    @Test(arguments: [GainMapFile.Order.bigEndian, .littleEndian])
    func findsUltraHDR(_ order: GainMapFile.Order) throws {
        var file = try file(GainMapFile.xmp(xmp))
        file.order = order
        file.baseSegments = [GainMapFile.xmp(#"<a xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"/>"#)]
        let bytes = file.bytes
        let map = try #require(try found(bytes))
        #expect(map.kind == .ultraHDR && !map.isBaseHDR)
        #expect(
            map.channels == [
                GainMap.Channel(minBoost: -0.5, maxBoost: 2.25, gamma: 1.5, offsetSDR: 0.01, offsetHDR: 1.0 / 64)
            ])
        #expect((map.minCapacity, map.maxCapacity) == (0, 2.3))
        #expect(map.place.upperBound == bytes.count)
        #expect(map.place.count == file.map.count + file.mapSegments[0].count)
        #expect(bytes[map.place].starts(with: [0xff, 0xd8]))
    }

    @Test func readsListsInXMP() throws {
        let list = """
            <rdf:Description xmlns:g="http://ns.adobe.com/hdr-gain-map/1.0/" g:BaseRenditionIsHDR="True" g:HDRCapacityMax="3">
            <g:GainMapMax> <rdf:Seq> <rdf:li>1.5</rdf:li><rdf:li> 2 </rdf:li>
            <rdf:li>2.5</rdf:li> </rdf:Seq></g:GainMapMax><g:Gamma>0.5</g:Gamma></rdf:Description>
            """
        let map = try #require(try found(file(GainMapFile.xmp(list)).bytes))
        #expect(map.channels.map(\.maxBoost) == [1.5, 2, 2.5])
        #expect(map.channels.map(\.gamma) == [0.5, 0.5, 0.5])
        #expect(map.isBaseHDR)
    }

    @Test func findsISO() throws {
        let map = try #require(try found(file(iso).bytes))
        #expect(map.kind == .iso && !map.isBaseHDR)
        #expect(
            map.channels == [
                GainMap.Channel(minBoost: -0.5, maxBoost: 2.25, gamma: 1.5, offsetSDR: 1.0 / 64, offsetHDR: -1.0 / 32)
            ])
        #expect((map.minCapacity, map.maxCapacity) == (0, 2))
    }

    @Test func isoHasThreeChannelsOneDenominatorOrAnHDRBase() throws {
        let channels = [-1, 4, 2, 1, 1] + [0, 8, 4, 1, 1] + [1, 12, 8, 0, 3]
        let map = try #require(try found(file(GainMapFile.iso(flags: 0x80 | 0x08, [4, 12, 0] + channels)).bytes))
        #expect(map.channels.map(\.minBoost) == [-0.25, 0, 0.25])
        #expect(map.channels.map(\.maxBoost) == [1, 2, 3])
        #expect(map.channels.map(\.gamma) == [0.5, 1, 2])
        // The picture has a headroom of 3, and its map makes the SDR rendition: the base's offset is that of HDR.
        #expect(map.isBaseHDR && (map.minCapacity, map.maxCapacity) == (0, 3))
        #expect(
            map.channels.map(\.offsetHDR) == [0.25, 0.25, 0] && map.channels.map(\.offsetSDR) == [0.25, 0.25, 0.75])
    }

    @Test func isoGoesBeforeXMP() throws {
        #expect(try found(file(GainMapFile.xmp(xmp), iso).bytes)?.kind == .iso)
        #expect(try found(file(iso, GainMapFile.xmp(xmp)).bytes)?.kind == .iso)
        // Where the one of ISO cannot be read, the other counts.
        #expect(try found(file(GainMapFile.iso(flags: 0, [0, 0]), GainMapFile.xmp(xmp)).bytes)?.kind == .ultraHDR)
    }

    @Test func findsApple() throws {
        let map = try #require(try found(file(GainMapFile.xmp(apple)).bytes))
        #expect(map.kind == .apple && map.maxCapacity == 3 && map.channels[0].maxBoost == 3)
        let old = apple.split(separator: "\n").filter { !$0.contains("Headroom") }.joined()
        #expect(try found(file(GainMapFile.xmp(old)).bytes)?.channels[0].maxBoost == 0)
    }

    /// Returns an Exif segment with the two numbers in a maker note of Apple, as fractions.
    private func exif(
        _ headroom: (Int, Int), _ gain: (Int, Int), type: Int = 10, order: GainMapFile.Order = .bigEndian
    ) -> [UInt8] {
        let block = GainMapFile.makerNote(headroom: headroom, gain: gain, type: type, order: order)
        return GainMapFile.segment(0xe1, Array("Exif\0\0".utf8) + block)
    }

    @Test func applesHeadroomIsInTheMakerNote() throws {
        let old = apple.split(separator: "\n").filter { !$0.contains("Headroom>") }.joined()
        var file = try file(GainMapFile.xmp(old))
        let stops = { (segment: [UInt8]) -> Double? in
            file.baseSegments = [segment]
            return try found(file.bytes)?.maxCapacity
        }
        // The four branches of Apple's formula, and one that makes less than none.
        #expect(try stops(exif((1, 2), (1, 200))) == -20 * 0.005 + 1.8)
        #expect(try stops(exif((1, 2), (1, 1), order: .littleEndian)) == -0.101 + 1.601)
        #expect(try stops(exif((1, 1), (0, 1))) == 3)
        #expect(try stops(exif((3, 2), (2, 1))) == -0.303 * 2 + 2.303)
        #expect(try stops(exif((1, 1), (90, 1))) == 0)
        // What is none: no denominator, another type, more stops than there are, cut blocks.
        #expect(try stops(exif((1, 0), (0, 1))) == 0)
        #expect(try stops(exif((1, 1), (0, 1), type: 5)) == 0)
        #expect(try stops(exif((1, 1), (-0x7fff_ffff, 1))) == 0)
        #expect(try stops(exif((-0x8000_0000, -1), (-0x8000_0000, -1))) == 0)
        let whole = exif((1, 1), (0, 1))
        for count in 6..<whole.count - 4 {
            #expect(try stops(GainMapFile.segment(0xe1, Array(whole[4..<count + 4]))) == 0, "\(count)")
        }
        // XMP goes before.
        file = try self.file(GainMapFile.xmp(apple))
        #expect(try stops(exif((1, 1), (1, 1))) == 3)
    }

    @Test func otherPicturesAreNoGainMaps() throws {
        #expect(try found(file().bytes) == nil)
        #expect(try found(file(GainMapFile.xmp("<a/>")).bytes) == nil)
        #expect(try found(Fixtures.array("jpeg/baseline-420.jpg")) == nil)
        #expect(try found(Fixtures.array("metadata/kinds.jpg")) == nil)
        #expect(try found([]) == nil)
        // A depth map of Apple is another auxiliary image.
        let depth = apple.replacing("hdrgainmap</", with: "depth</")
        #expect(try found(file(GainMapFile.xmp(depth)).bytes) == nil)
    }

    @Test func theMapIsFoundBehindOtherImages() throws {
        var file = try file(iso)
        file.others = [(40, 60), (1 << 31, 1 << 31), (0, 0), (5, 0)]
        let map = try #require(try found(file.bytes))
        #expect(map.place.upperBound == file.bytes.count)
        file.others = Array(repeating: (60, 60), count: 15)
        #expect(try found(file.bytes) == nil)  // it is the 17th
    }

    @Test func placesOutsideAreTold() throws {
        var file = try file(iso)
        file.baseSegments = [GainMapFile.isoAnnouncement]
        let whole = file.bytes
        #expect(kind(of: Array(whole.dropLast())) == .truncated)
        for (offset, size) in [
            (0xffff_ffff, 0xffff_ffff), (1, 0xffff_ffff), (whole.count, 1), (whole.count - 20, 0x7fff_ffff),
        ] {
            file.offset = offset
            file.size = size
            #expect(kind(of: file.bytes) == .truncated, "\(offset) \(size)")
        }
        // Its own bytes, the index, the whole file, nothing, and the middle of the picture.
        for (offset, size) in [(0, whole.count), (1, whole.count - 200), (8, 16), (100, 0), (200, 300)] {
            file.offset = offset
            file.size = size
            #expect(kind(of: file.bytes) == .corrupt, "\(offset) \(size)")
        }
        file.baseSegments = []
        #expect(try found(file.bytes) == nil)
    }

    @Test func numbersThatMeanNothingAreRefused() throws {
        var file = try file()
        file.baseSegments = [GainMapFile.isoAnnouncement]
        let good = [0, 1, 2, 1, -1, 2, 9, 4, 3, 2, 1, 64, 1, 64]
        let zeros = stride(from: 1, to: 14, by: 2).map { (flags: UInt8(0), good.replacing($0, by: 0)) }
        let wrong: [(flags: UInt8, [Int])] =
            zeros + [
                (0, Array(good.dropLast())), (0, []), (0x80, good), (0x08, [0] + good),
                (0, good.replacing(4, by: 99)),  // the minimum over the maximum
                (0, good.replacing(8, by: 0)),  // a gamma of 0
            ]
        for (flags, numbers) in wrong {
            file.mapSegments = [GainMapFile.iso(flags: flags, numbers)]
            #expect(kind(of: file.bytes) == .corrupt, "\(numbers)")
        }
        file.mapSegments = [GainMapFile.iso(flags: 0, good, version: 1)]
        #expect(kind(of: file.bytes) == .corrupt)
        file.mapSegments = [GainMapFile.iso(flags: 0, good)]
        #expect(try found(file.bytes) != nil)
        for text in ["nan", "inf", "-inf", "1e999", "", "1,5", "2.25 x", "0x1p9999", "-0.6"] {
            file.mapSegments = [GainMapFile.xmp(xmp.replacing("2.25", with: text))]
            #expect(kind(of: file.bytes) == .corrupt, "\(text)")
        }
        for text in ["0", "-1", "nan"] {
            file.mapSegments = [GainMapFile.xmp(xmp.replacing(#"Gamma="1.5"#, with: #"Gamma="\#(text)"#))]
            #expect(kind(of: file.bytes) == .corrupt, "\(text)")
        }
        for text in ["nan", "inf", "0.5", "-8"] {
            file.mapSegments = [GainMapFile.xmp(apple.replacing(">8<", with: ">\(text)<"))]
            #expect(kind(of: file.bytes) == .corrupt, "\(text)")
        }
    }

    @Test func oddPacketsEnd() throws {
        let declared = #"<a xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" "#
        let fill = { (text: String) in String(repeating: text, count: 60_000 / text.utf8.count) }
        let packets = [
            fill("xmlns:"), fill("xmlns:hdrgm="), fill("<"), declared + fill("hdrgm:GainMapMax"),
            declared + fill("hdrgm:GainMapMax="), declared + fill("hdrgm:GainMapMax>"),
            declared + "><hdrgm:GainMapMax>" + fill("<a>"), declared + "><hdrgm:GainMapMax>" + fill("1"),
            declared + "hdrgm:GainMapMax=\"" + fill("1"), declared + fill("hdrgm:GainMapMax=\"1\" "),
            declared + "><hdrgm:GainMapMax>" + fill("<rdf:li>1</rdf:li>") + "</hdrgm:GainMapMax>",
            "<!DOCTYPE a [<!ENTITY b \"" + fill("&c;") + "\">]>" + declared,
            "", "x", "xmlns:", #"xmlns:=""#, "xmlns:a=\"",
        ]
        for packet in packets {
            #expect(try found(file(GainMapFile.xmp(packet)).bytes) == nil, "\(packet.prefix(80))")
        }
    }

    /// Thousands of packets fit into a body, and each takes several searches.
    @Test func onlyTheFirstPacketCounts() throws {
        let (empty, full) = (GainMapFile.xmp("<a/>"), GainMapFile.xmp(xmp))
        #expect(try found(file(full, empty).bytes)?.kind == .ultraHDR)
        #expect(try found(file(empty, full).bytes) == nil)
        #expect(try found(file(empty, full, iso).bytes)?.kind == .iso)
        var file = try file()
        file.baseSegments = [empty, full]
        #expect(try found(file.bytes) == nil)
        file.baseSegments = [full, empty]
        #expect(kind(of: file.bytes) == .corrupt)  // it announces a map, and has none
    }

    @Test func everyCutHasAnAnswer() throws {
        var file = try file(GainMapFile.xmp(xmp), iso)
        file.baseSegments = [GainMapFile.isoAnnouncement]
        let whole = file.bytes
        for count in 0..<whole.count {
            let cut = Array(whole[..<count])
            if kind(of: cut) == nil { #expect(try found(cut) == nil) }
        }
    }

    @Test func randomDamageNeverTraps() throws {
        var random = SystemRandomNumberGenerator()
        var file = try file(GainMapFile.xmp(xmp), iso, GainMapFile.xmp(apple))
        file.baseSegments = [GainMapFile.isoAnnouncement]
        let whole = file.bytes
        let head = whole.count - file.map.count
        for _ in 0..<3000 {
            var damaged = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                damaged[Int.random(in: 0..<head, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let map = try? found(damaged) else { continue }
            #expect(map.place.upperBound <= damaged.count && map.place.lowerBound > 0)
            #expect(map.kind == .apple || map.channels.allSatisfy(\.isPossible))
        }
    }

    @Test func decodesTheMapTurnedAsThePicture() throws {
        let decoders = DecoderSet(registry: .builtIn)
        let image = { (bytes: [UInt8], form: DecodeOptions) in
            let copy = try #require(bytes.withUnsafeBytes { Bytes(copying: $0) })
            return try decoders.decode(copy, in: form)
        }
        let expected = try Raster(pam: Fixtures.array("jpeg/grey.pam"))
        let plain = try file(iso)
        let map = try #require(try decoders.gainMap(of: image(plain.bytes, DecodeOptions())))
        #expect(Raster(try map.decoded()) == expected)
        #expect(map.bytes == nil && map.format == nil)

        var turned = plain
        turned.base = try Fixtures.array("facts/orientation-6.jpg")
        let upright = try #require(try decoders.gainMap(of: image(turned.bytes, DecodeOptions())))
        #expect((upright.width, upright.height) == (expected.height, expected.width))
        let stored = try #require(try decoders.gainMap(of: image(turned.bytes, DecodeOptions(isUpright: false))))
        #expect(Raster(try stored.decoded()) == expected)

        #expect(try decoders.gainMap(of: image(Fixtures.array("png/rgb8.png"), DecodeOptions())) == nil)
        var broken = plain
        broken.map = Array(plain.map[..<60]) + Array(repeating: 0, count: 100)
        #expect(throws: CoderError.self) { try decoders.gainMap(of: image(broken.bytes, DecodeOptions())) }
    }

    /// The index of this one is written by Pillow.
    @Test func findsTheMapInAFileOfPillow() throws {
        let bytes = try Fixtures.array("metadata/gain-map.jpg")
        let map = try #require(try found(bytes))
        #expect(map.kind == .ultraHDR && map.channels[0].maxBoost == 2.5 && map.maxCapacity == 2.5)
        #expect(map.place.upperBound == bytes.count)
    }
}

extension [Int] {
    fileprivate func replacing(_ index: Int, by number: Int) -> [Int] {
        var made = self
        made[index] = number
        return made
    }
}
