import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Gain maps of AVIF and HEIF. Items have no real pictures here: Tests/Coders decodes.
@Suite struct GainMapItemTests {
    private typealias Item = ItemFile.Item
    private let mapData = Array("the map".utf8)
    /// Headrooms 0 and 2; -1/2 to 9/4, gamma 3/2, offsets 1/64 and -1/32.
    private let numbers = [0, 1, 2, 1, -1, 2, 9, 4, 3, 2, 1, 64, -1, 32]
    private let xmp = """
        <rdf:Description xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/">
        <HDRGainMap:HDRGainMapHeadroom>8</HDRGainMap:HDRGainMapHeadroom></rdf:Description>
        """

    private func metadata(version: Int = 0, flags: UInt8 = 0x40, _ numbers: [Int]) -> [UInt8] {
        [UInt8(version), 0, 0, 0, 0, flags] + numbers.flatMap { ItemFile.number($0, 4) }
    }

    /// A picture, its map and what ISO 21496-1 says of that: the items 1 to 3.
    private var iso: ItemFile {
        var file = ItemFile([Item("av01", [1, 2, 3]), Item("av01", mapData), Item("tmap", metadata(numbers))])
        file.references = [("thmb", 9, [1]), ("dimg", 3, [1, 2])]
        return file
    }

    /// A picture, its map as Apple has it, and the XMP of that: the items 1 to 3.
    private var apple: ItemFile {
        let name = Array("\0\0\0\0urn:com:apple:photo:2020:aux:hdrgainmap\0".utf8)
        var file = ItemFile([
            Item("hvc1", [1, 2, 3], properties: [("ispe", [1])]),
            Item("hvc1", mapData, properties: [("ispe", [2]), ("auxC", name)]),
            Item("mime", Array(xmp.utf8), mediaType: "application/rdf+xml"),
        ])
        file.brand = "heic"
        file.references = [("auxl", 2, [1]), ("cdsc", 3, [2])]
        return file
    }

    private func found(_ bytes: [UInt8]) throws -> GainMap? {
        try bytes.withUnsafeBytes { try GainMap.find(inItems: $0) }
    }

    private func kind(of bytes: [UInt8]) -> CoderError.Kind? {
        do { _ = try found(bytes) } catch { return (error as? CoderError)?.kind }
        return nil
    }

    @Test(arguments: ItemFile.Style.allCases)
    func findsISO(_ style: ItemFile.Style) throws {
        var file = iso
        file.style = style
        let bytes = file.bytes
        let map = try #require(try found(bytes))
        #expect(map.kind == .iso && !map.isBaseHDR)
        #expect(
            map.channels == [
                GainMap.Channel(minBoost: -0.5, maxBoost: 2.25, gamma: 1.5, offsetSDR: 1.0 / 64, offsetHDR: -1.0 / 32)
            ])
        #expect((map.minCapacity, map.maxCapacity) == (0, 2))
        #expect(Array(bytes[map.place]) == mapData)
    }

    @Test(arguments: ItemFile.Style.allCases)
    func findsApple(_ style: ItemFile.Style) throws {
        var file = apple
        file.style = style
        let bytes = file.bytes
        let map = try #require(try found(bytes))
        #expect(map.kind == .apple && map.maxCapacity == 3 && map.channels[0].maxBoost == 3)
        #expect(Array(bytes[map.place]) == mapData)
    }

    @Test func applesHeadroomIsInXMPOrTheMakerNote() throws {
        var file = apple
        // The XMP of another item, and something else of the map.
        file.references[1].to = [1]
        #expect(try found(file.bytes)?.maxCapacity == 0)
        file.references[1].to = [2]
        file.items[2].mediaType = "text/plain"
        #expect(try found(file.bytes)?.maxCapacity == 0)
        let block = GainMapFile.makerNote(headroom: (1, 1), gain: (0, 1))
        for skipped in [0, 6] {
            let exif = ItemFile.number(skipped, 4) + Array("Exif\0\0".utf8.prefix(skipped)) + block
            file.items = apple.items + [Item("Exif", exif)]
            file.references = apple.references + [("cdsc", 4, [1])]
            #expect(try found(file.bytes)?.maxCapacity == 3)
            file.references.remove(at: 1)
            #expect(try found(file.bytes)?.maxCapacity == 3)
        }
        // XMP goes before, also with a number that means nothing.
        file.references = apple.references + [("cdsc", 4, [1])]
        for (text, stops) in [("4", 2.0), ("1", 0)] {
            file.items[2].data = Array(xmp.replacing(">8<", with: ">\(text)<").utf8)
            #expect(try found(file.bytes)?.maxCapacity == stops)
        }
        file.items[2].data = Array(xmp.replacing(">8<", with: ">nan<").utf8)
        #expect(kind(of: file.bytes) == .corrupt)
    }

    @Test func isoGoesBeforeApple() throws {
        var file = apple
        file.items += [Item("tmap", metadata(numbers)), Item("hvc1", [9])]
        file.references.append(("dimg", 4, [1, 5]))
        #expect(try found(file.bytes)?.kind == .iso)
        #expect(try found(file.bytes)?.place.count == 1)
        // Where the one of ISO cannot be read, the other counts.
        file.items[3].data = metadata(version: 1, numbers)
        #expect(try found(file.bytes)?.kind == .apple)
    }

    @Test func otherItemsAreNoGainMaps() throws {
        let none: [(inout ItemFile) -> Void] = [
            { $0.references = [] },
            { $0.items[2].type = "grid" },
            { $0.references[1].kind = "auxl" },
            { $0.references[1].to = [2, 1] },
            { $0.references[1].to = [1, 2, 2] },
            { $0.references[1].to = [1] },
            { $0.references[1].to = [1, 1] },
            { $0.references[1].from = 2 },
            { $0.primary = 2 },
            { $0.brand = "avis" },
        ]
        for change in none {
            var file = iso
            change(&file)
            #expect(try found(file.bytes) == nil)
        }
        for name in ["pitm", "iinf", "iref"] {
            var file = iso
            file.missing = [name]
            #expect(try found(file.bytes) == nil, "\(name)")
        }
        for (name, content) in [
            ("auxC", "urn:com:apple:photo:2020:aux:hdrgainmap2"), ("auxC", "urn:com:apple:photo:2020:aux:hdr"),
            ("auxD", "urn:com:apple:photo:2020:aux:hdrgainmap"), ("auxC", ""),
        ] {
            var file = apple
            file.items[1].properties[1] = (name, Array("\0\0\0\0\(content)\0".utf8))
            #expect(try found(file.bytes) == nil, "\(name) \(content)")
        }
        for name in ["iprp", "iref"] {
            var file = apple
            file.missing = [name]
            #expect(try found(file.bytes) == nil, "\(name)")
        }
        #expect(try found([]) == nil)
        #expect(try found(Fixtures.array("coders/photo.avif")) == nil)
        #expect(try found(Fixtures.array("jpeg/baseline-420.jpg")) == nil)
    }

    @Test func descriptionsThatMeanNothingAreRefused() throws {
        let wrong: [[UInt8]] = [
            [], [0], metadata(version: 1, numbers), Array(metadata(numbers).dropLast()), metadata(flags: 0x80, numbers),
            metadata(numbers.map { $0 == 64 ? 0 : $0 }), metadata([]),
        ]
        for data in wrong {
            var file = iso
            file.items[2].data = data
            #expect(kind(of: file.bytes) == .corrupt, "\(data)")
        }
        var file = iso
        file.missing = ["iloc"]
        #expect(kind(of: file.bytes) == .corrupt)
        // A description in pieces is not read.
        file = iso
        file.places[3] = [(100, 10), (110, 52)]
        #expect(kind(of: file.bytes) == .corrupt)
        // The map itself is no item.
        file = iso
        file.references[1].to = [1, 7]
        #expect(kind(of: file.bytes) == .corrupt)
    }

    @Test func placesOutsideAreTold() throws {
        let size = iso.bytes.count
        #expect(kind(of: Array(iso.bytes.dropLast())) == .truncated)
        for item in [2, 3] {
            for place in [(size - 2, 3), (size + 1, 0), (size, 1), (0x7fff_ffff, 0x7fff_ffff), (0xffff_ffff, 0)] {
                var file = iso
                file.places[item] = [place]
                #expect(kind(of: file.bytes) == .truncated, "\(place)")
            }
        }
        // Numbers that overflow.
        var file = iso
        file.style = .wide
        for place in [(Int.max, 1), (8, Int.max), (Int.max, Int.max), (-1, -1), (Int.min, Int.min)] {
            file.places[3] = [place]
            #expect([.truncated, .corrupt].contains(kind(of: file.bytes)), "\(place)")
        }
        // Places in "idat" that lie outside of it.
        file = iso
        file.style = .inside
        for place in [(0, 1000), (1000, 0), (1000, 1)] {
            file.places[3] = [place]
            #expect(kind(of: file.bytes) == .corrupt, "\(place)")
        }
    }

    @Test func aMapInPiecesHasNoPlace() throws {
        var file = iso
        file.places[2] = [(100, 3), (110, 4)]
        #expect(try found(file.bytes)?.place.isEmpty == true)
        file = iso
        file.items[1].type = "grid"
        #expect(try found(file.bytes)?.place.isEmpty == true)
        // A size of 0 is up to the end.
        file = iso
        file.places[2] = [(file.bytes.count - 5, 0)]
        #expect(try found(file.bytes)?.place.count == 5)
    }

    @Test func theMapIsAFileOfItsOwn() throws {
        for style in ItemFile.Style.allCases {
            var file = iso
            file.style = style
            file.firstID = 0x101
            file.primary = 0x101
            file.references = [("dimg", 0x103, [0x101, 0x102])]
            let map = try #require(try found(file.bytes))
            let made = try file.bytes.withUnsafeBytes { try map.file(in: $0) }
            file.primary = 0x102
            withExtendedLifetime(made) { #expect(Array(made.pointer) == file.bytes) }
        }
        // An identifier that does not fit.
        let map = try #require(try found(iso.bytes))
        var large = map
        large.item = GainMap.Item(id: 0x10000, primaryPlace: try #require(map.item).primaryPlace)
        #expect(throws: CoderError.self) { try iso.bytes.withUnsafeBytes { try large.file(in: $0) } }
    }

    @Test func manyItemsCostNoMoreThanTheirBytes() throws {
        // 20,000 references to the picture, of which each could be an auxiliary one.
        var file = apple
        file.references = Array(repeating: ("auxl", 3, [1]), count: 20_000) + file.references
        #expect(try found(file.bytes) == nil)
        file = iso
        file.items = Array(repeating: Item("tmap", []), count: 20_000)
        file.references = (1...20_000).map { ("dimg", $0, [2, 1]) }
        #expect(try found(file.bytes) == nil)
        // 20,000 places of 65,535 pieces each, which take no bytes.
        let places = (1...20_000).flatMap { ItemFile.number($0 + 9, 2) + ItemFile.number(0xffff, 4) }
        file = iso
        file.inFront = ItemFile.box("iloc", version: 0, [0, 0] + ItemFile.number(20_000, 2) + places)
        #expect(kind(of: file.bytes) == .corrupt)
        // Counts that are far too large.
        file.inFront = ItemFile.box("iloc", version: 2, [0, 0, 0xff, 0xff, 0xff, 0xff])
        #expect(kind(of: file.bytes) == .corrupt)
        file = apple
        file.inFront = ItemFile.box(
            "iprp",
            ItemFile.box("ipco", []) + ItemFile.box("ipma", version: 0, [0xff, 0xff, 0xff, 0xff, 0, 2, 1, 0x81]))
        #expect(try found(file.bytes) == nil)
    }

    @Test(arguments: ItemFile.Style.allCases)
    func everyCutHasAnAnswer(_ style: ItemFile.Style) throws {
        for var file in [iso, apple] {
            file.style = style
            let whole = file.bytes
            for count in 0..<whole.count {
                let cut = Array(whole[..<count])
                if kind(of: cut) == nil, let map = try found(cut) { #expect(map.place.upperBound <= count) }
            }
        }
    }

    @Test func randomDamageNeverTraps() throws {
        var random = SystemRandomNumberGenerator()
        for style in ItemFile.Style.allCases {
            for var file in [iso, apple] {
                file.style = style
                let whole = file.bytes
                for _ in 0..<1000 {
                    var damaged = whole
                    for _ in 0..<Int.random(in: 1...6, using: &random) {
                        damaged[Int.random(in: 0..<whole.count, using: &random)] = .random(in: 0...255, using: &random)
                    }
                    guard let map = try? found(damaged) else { continue }
                    #expect(map.place.upperBound <= damaged.count && map.item != nil)
                }
            }
        }
    }

    @Test func findsMapsInFilesOfEncoders() throws {
        let avif = try #require(try found(Fixtures.array("metadata/gain-map.avif")))
        #expect(avif.kind == .iso && avif.maxCapacity == 2.5 && avif.channels[0].maxBoost == 2.5)
        let heic = try #require(try found(Fixtures.array("metadata/gain-map.heic")))
        #expect(heic.kind == .apple && heic.maxCapacity == 2 && !heic.place.isEmpty)
    }
}
