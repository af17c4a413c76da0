import TestSupport
import Testing

@testable import SDDCoders

/// Transforms of pixels, compared with Pillow and with their definitions.
@Suite struct TransformTests {
    static let moves: [(PictureTransform, String)] = [
        (.flip(.horizontal), "flip-horizontal"), (.flip(.vertical), "flip-vertical"), (.flip(.both), "rotate-180"),
        (.rotate(.one), "rotate-90"), (.rotate(.two), "rotate-180"), (.rotate(.three), "rotate-270"),
        (.crop(x: 3, y: 2, width: 5, height: 4), "crop"),
    ]

    @Test(arguments: moves, PixelFormat.allCases)
    func pixelsMoveAsPillowMovesThem(move: (PictureTransform, String), format: PixelFormat) throws {
        let picture = try Self.picture("picture", as: format)
        let made = try TransformChain([move.0]).apply(to: picture)
        let expected = try Self.picture(move.1, as: format)
        #expect(made.format == format && made.width == expected.width && made.height == expected.height)
        #expect(made.plainBytes == expected.plainBytes)
    }

    /// These pictures are larger than a tile.
    @Test(arguments: PixelFormat.allCases)
    func largePicturesAreTurnedToo(format: PixelFormat) throws {
        let (width, height) = (97, 71)
        let rgba = (0..<width * height * 4).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 4) }
        let pixels = try Raster(width: width, height: height, rgba: rgba).pixels(as: format)
        let made = try TransformChain([.rotate(.one)]).apply(to: pixels)
        let size = format.bytesPerPixel
        let (before, after) = (pixels.plainBytes, made.plainBytes)
        for y in 0..<height {
            for x in 0..<width {
                // The top row becomes the column at the right.
                let (from, to) = ((y * width + x) * size, (x * height + height - 1 - y) * size)
                try #require(before[from..<from + size] == after[to..<to + size], "\(x), \(y)")
            }
        }
    }

    @Test func turningAndFlippingCanBeUndone() throws {
        let picture = try Self.picture("picture")
        for chain in [
            [.flip(.horizontal), .flip(.horizontal)], [.rotate(.one), .rotate(.three)], [.rotate(.two), .flip(.both)],
        ] as [[PictureTransform]] {
            #expect(try TransformChain(chain).apply(to: picture).plainBytes == picture.plainBytes)
        }
    }

    @Test func aCropIsClippedToThePicture() throws {
        let picture = try Self.picture("picture")
        let crop = { (x: Int, y: Int, width: Int, height: Int) throws(TransformError) -> PixelBuffer in
            try TransformChain([.crop(x: x, y: y, width: width, height: height)]).apply(to: picture)
        }
        #expect(try crop(0, 0, 13, 7) === picture)
        #expect(try crop(-5, -5, .max, .max) === picture)
        let corner = try crop(-2, 5, 3, 100)
        #expect(corner.width == 1 && corner.height == 2)
        let bytes = picture.plainBytes
        #expect(corner.plainBytes == Array(bytes[260..<264] + bytes[312..<316]))
        for (x, y, width, height) in [(13, 0, 1, 1), (0, 7, 1, 1), (-3, 0, 3, 9), (0, 0, 0, 1), (.max, .max, .max, 1)] {
            #expect(throws: TransformError.outside) { try crop(x, y, width, height) }
        }
        #expect(throws: TransformError.outside) { try crop(.min, .min, .max, .max) }
    }

    // MARK: Sizes

    @Test(arguments: [
        SizeRule(width: 5, height: 5), SizeRule(width: 5, height: 5, fit: .fill),
        SizeRule(width: 4, height: 3, fit: .stretch), SizeRule(height: 3),
    ])
    func resizingIsTheReducers(rule: SizeRule) throws {
        // given
        let raster = try Raster(pam: Fixtures.array("transformed/picture.pam"))
        let plan = rule.plan(width: 13, height: 7)
        let target = try #require(PixelBuffer(width: plan.width, height: plan.height))
        let reducer = try AreaReducer(
            width: 13, height: 7, plan: plan, storedWidth: 13, storedHeight: 7, into: target, isOpaque: false)
        raster.rgba.withUnsafeBytes { rows in
            for y in 0..<7 { if let base = rows.baseAddress { reducer.take(base + y * 52) } }
        }
        // when
        let made = try TransformChain([.resize(rule)]).apply(to: raster.pixels(as: .rgba8))
        // then
        #expect(made.width == plan.width && made.height == plan.height && made.plainBytes == target.plainBytes)
        let swapped = try TransformChain([.resize(rule)]).apply(to: raster.pixels(as: .bgra8))
        #expect(try swapped.plainBytes == Raster(target).pixels(as: .bgra8).plainBytes)
    }

    @Test func resizingNeverEnlarges() throws {
        let picture = try Self.picture("picture")
        #expect(try TransformChain([.resize(SizeRule(width: 14, height: 8))]).apply(to: picture) === picture)
    }

    // MARK: Corners

    /// Compared with 16 x 16 points per pixel: coverage by distance differs from coverage by area in the last bits.
    @Test(arguments: [1, 3, 4, 5, 100], [PictureTransform.Corners.all, .topLeft, [.topRight, .bottomLeft]])
    func cornersAreQuarterCircles(radius: Int, corners: PictureTransform.Corners) throws {
        let (width, height) = (13, 9)
        let colour: [UInt8] = [10, 200, 30, 200]
        let rgba = (0..<width * height).flatMap { _ in colour }
        let pixels = try Raster(width: width, height: height, rgba: rgba).pixels(as: .rgba8)
        let made = try TransformChain([.roundCorners(radius: radius, corners)]).apply(to: pixels).plainBytes
        let r = min(Double(radius), 4.5)
        for y in 0..<height {
            for x in 0..<width {
                var inside = 0
                for point in 0..<256 {
                    let (px, py) = (
                        Double(x) + (Double(point % 16) + 0.5) / 16, Double(y) + (Double(point / 16) + 0.5) / 16
                    )
                    let (isLeft, isTop) = (px < Double(width) / 2, py < Double(height) / 2)
                    let corner: PictureTransform.Corners =
                        isTop ? (isLeft ? .topLeft : .topRight) : isLeft ? .bottomLeft : .bottomRight
                    let dx = r - min(px, Double(width) - px)
                    let dy = r - min(py, Double(height) - py)
                    let isCut = corners.contains(corner) && dx > 0 && dy > 0 && dx * dx + dy * dy > r * r
                    inside += isCut ? 0 : 1
                }
                let pixel = made[(y * width + x) * 4..<(y * width + x) * 4 + 4]
                try #require(pixel.prefix(3).elementsEqual(colour.prefix(3)))
                let alpha = Double(inside) / 256 * 200
                try #require(abs(Double(pixel.last ?? 0) - alpha) <= 20, "\(x), \(y): \(pixel), not \(alpha)")
            }
        }
    }

    @Test func aCornerHasTheValuesComputedByHand() throws {
        // A circle of radius 2 around (2, 2): the pixels' middles are 2.121, 1.581 and 0.707 away from it.
        let pixels = try Raster(width: 4, height: 4, rgba: .init(repeating: 255, count: 64)).pixels(as: .rgba8)
        let made = try TransformChain([.roundCorners(radius: 2, .all)]).apply(to: pixels).plainBytes
        let alphas = stride(from: 3, to: 64, by: 4).map { made[$0] }
        // 255 * (2 - 2.1213 + 0.5), 255 * (2 - 1.5811 + 0.5)
        #expect(alphas == [97, 234, 234, 97, 234, 255, 255, 234, 234, 255, 255, 234, 97, 234, 234, 97])
    }

    @Test(arguments: PixelFormat.allCases)
    func cornersNeedAlpha(format: PixelFormat) throws {
        let picture = try Self.picture("picture", as: format)
        let made = try TransformChain([.roundCorners(radius: 2, .topLeft)]).apply(to: picture)
        #expect(made.format == (format.hasAlpha ? format : .rgba8))
        // The last row has no such corner.
        let last = try #require(PixelBuffer(width: 13, height: 1, format: made.format.source))
        picture.readSourceRow(6, to: last.base)
        let form = DecodeOptions(format: made.format)
        let expected = try PixelConverter(last, to: form, orientation: 1).make()
        #expect(Array(made.plainBytes.suffix(expected.byteCount)) == expected.plainBytes)
        // The second of the two bytes is the higher one.
        let top = format.bytesPerPixel / 8
        if format.isPremultiplied { #expect(made.plainBytes[top] < picture.plainBytes[top]) }
    }

    @Test func withoutARadiusNothingIsRounded() throws {
        let picture = try Self.picture("picture")
        #expect(try TransformChain([.roundCorners(radius: 0, .all)]).apply(to: picture) === picture)
    }

    @Test(
        arguments: [
            .blur(0), .tint(.init(argb: 0xff_ffff)), .roundCorners(radius: 0, .all), .roundCorners(radius: 5, []),
            .border(.init(width: 0, .init(argb: 0xffff_0000), radius: 3, .all)),
            .border(.init(width: 2, .init(argb: 0xff_0000), radius: 3, .all)),
        ] as [PictureTransform], PixelFormat.allCases)
    func whatHasNoEffectChangesNothing(transform: PictureTransform, format: PixelFormat) throws {
        let picture = try Self.picture("picture", as: format)
        #expect(try TransformChain([transform]).apply(to: picture) === picture)
    }

    // MARK: Chains

    @Test func aChainRunsInOrder() throws {
        let picture = try Self.picture("picture")
        let crop = PictureTransform.crop(x: 0, y: 0, width: 2, height: 2)
        let one = try TransformChain([.rotate(.one), crop]).apply(to: picture)
        let other = try TransformChain([crop, .rotate(.one)]).apply(to: picture)
        #expect(one.plainBytes != other.plainBytes && one.width == 2 && other.width == 2)
        #expect(try TransformChain().apply(to: picture) === picture)
    }

    @Test func aChainMayHaveAnAppFunction() throws {
        let picture = try Self.picture("picture")
        let flip = PictureTransform.custom(key: "mine") { try? TransformChain([.flip(.vertical)]).apply(to: $0) }
        let made = try TransformChain([.flip(.horizontal), flip]).apply(to: picture)
        #expect(try made.plainBytes == Self.picture("rotate-180").plainBytes)
        #expect(throws: TransformError.refused) {
            try TransformChain([flip, .custom(key: "no") { _ in nil }, flip]).apply(to: picture)
        }
    }

    /// Names of stored pictures contain them, so that they must never change.
    @Test func keysNeverChange() {
        let chain = TransformChain([
            .resize(SizeRule(width: 100, height: 100, fit: .fill)), .resize(SizeRule(width: 7)),
            .resize(SizeRule(width: 3, height: 4, fit: .stretch)), .crop(x: -1, y: 2, width: 3, height: 4),
            .flip(.horizontal), .flip(.vertical), .flip(.both), .rotate(.one), .rotate(.two), .rotate(.three),
            .roundCorners(radius: 8, .all), .roundCorners(radius: 8, [.topLeft, .bottomRight]),
            .turn(.init(degrees: 12.5, keepsSize: false)), .turn(.init(degrees: -0.0204, keepsSize: true)),
            .border(.init(width: 2, .init(argb: 0xff33_6699), radius: 8, .all)), .tint(.init(argb: 0x00ff_0000)),
            .blur(4), .custom(key: "sepia(2)") { _ in nil },
        ])
        let expected = [
            "resize(100,100,fill)", "resize(7,0,inside)", "resize(3,4,stretch)", "crop(-1,2,3,4)", "flip(horizontal)",
            "flip(vertical)", "flip(both)", "rotate(90)", "rotate(180)", "rotate(270)", "round(8,15)", "round(8,9)",
            "rotate(12.5)", "rotate(359.98,keep)", "border(2,ff336699,8,15)", "tint(00ff0000)", "blur(4)", "sepia(2)",
        ]
        #expect(chain.key == expected.joined(separator: "-"))
        #expect(TransformChain().key == "")
    }

    private static func picture(_ name: String, as format: PixelFormat = .rgba8) throws -> PixelBuffer {
        try Raster(pam: Fixtures.array("transformed/\(name).pam")).pixels(as: format)
    }
}
