import Glibc
import TestSupport
import Testing

@testable import SDDCoders

/// Transforms that compute pixels: rotations by any angle, borders, tints and blurs.
@Suite struct DrawnTransformTests {
    // MARK: Rotations

    @Test(arguments: [
        (90.0, PictureTransform.QuarterTurns.one), (180, .two), (270, .three), (-90, .three), (450, .one),
        (90.0004, .one),
    ])
    func quarterTurnsMovePixels(degrees: Double, turns: PictureTransform.QuarterTurns) throws {
        let rotation = PictureTransform.Rotation(degrees: degrees, keepsSize: false)
        #expect(rotation.quarterTurns == turns)
        // What is computed is the same as what is moved.
        let picture = try Self.picture()
        let moved = try TransformChain([.rotate(turns)]).apply(to: picture)
        let computed = try TransformChain([.turn(rotation)]).apply(to: picture)
        #expect(computed.width == moved.width && computed.height == moved.height)
        // What is transparent has no colour any more.
        let (made, expected) = (computed.plainBytes, moved.plainBytes)
        for at in stride(from: 0, to: expected.count, by: 4) {
            #expect(made[at + 3] == expected[at + 3])
            if expected[at + 3] > 0 { #expect(made[at..<at + 4] == expected[at..<at + 4]) }
        }
    }

    @Test(arguments: [0.0, 360, -720, 0.0004, -0.0004])
    func noAngleIsNoChange(degrees: Double) throws {
        let picture = try Self.picture()
        let rotation = PictureTransform.Rotation(degrees: degrees, keepsSize: true)
        #expect(try TransformChain([.turn(rotation)]).apply(to: picture) === picture)
    }

    /// A turned square of one colour covers as much as before, and its corners are where the angle says.
    @Test(arguments: [15.0, 30, 45, 100, 200.5, 330], PixelFormat.allCases)
    func aPictureKeepsItsAreaAndColour(degrees: Double, format: PixelFormat) throws {
        let side = 40
        let made = try Self.turned(Self.plain(side, side, [200, 100, 50, 255], format), degrees)
        #expect(made.format == (format.hasAlpha ? format : .rgba8))
        let angle = degrees * .pi / 180
        let expected = Double(side) * (abs(sin(angle)) + abs(cos(angle)))
        #expect(abs(Double(made.width) - expected) <= 1 && made.width == made.height)
        let straight = try made.straightCopy(isNarrow: true).plainBytes
        let alphas = stride(from: 3, to: straight.count, by: 4).map { Int(straight[$0]) }
        #expect(abs(alphas.reduce(0, +) / 255 - side * side) <= side / 2)
        let middle = (made.height / 2 * made.width + made.width / 2) * 4
        let grey = format != .grey8 ? [200, 100, 50, 255] : [124, 124, 124, 255]
        #expect(zip(straight[middle..<middle + 4], grey).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
        // The corners of the result are outside.
        #expect(alphas[0] == 0 && alphas[alphas.count - 1] == 0)
    }

    /// A dot right of the middle is below it after a turn to the right.
    @Test func itIsClockwise() throws {
        var rgba = [UInt8](repeating: 255, count: 21 * 21 * 4)
        for y in 9...11 {
            for x in 17...19 { rgba.replaceSubrange((y * 21 + x) * 4..<(y * 21 + x) * 4 + 3, with: [0, 0, 0]) }
        }
        let picture = try Raster(width: 21, height: 21, rgba: rgba).pixels(as: .rgba8)
        let made = try Self.turned(picture, 45, keepsSize: true).plainBytes
        // 8 pixels to the right become 5.66 to the right and 5.66 down.
        #expect(made[(16 * 21 + 16) * 4] == 0)
        #expect(made[(10 * 21 + 18) * 4] == 255)
    }

    @Test func theSizeIsKept() throws {
        let picture = try Self.plain(30, 10, [1, 2, 3, 255])
        let made = try Self.turned(picture, 90, keepsSize: true)
        #expect(made.width == 30 && made.height == 10)
        let bytes = made.plainBytes
        for y in 0..<10 { for x in 0..<30 { #expect(bytes[(y * 30 + x) * 4 + 3] == (10..<20 ~= x ? 255 : 0)) } }
    }

    @Test func aTurnedPictureMayBeTooLarge() throws {
        let chain = TransformChain([.turn(.init(degrees: 45, keepsSize: false))])
        let picture = try Self.plain(100, 100, [1, 2, 3, 4])
        #expect(throws: TransformError.tooLarge(width: 142, height: 142)) {
            try chain.apply(to: picture, maxPixels: 20_000)
        }
        #expect(chain.growth(ofWidth: 100, height: 100) == 142 * 142 - 10_000)
        #expect(try chain.apply(to: picture, maxPixels: 20_164).width == 142)
    }

    // MARK: Borders

    @Test func aBorderLiesInsideTheEdges() throws {
        let picture = try Self.plain(9, 7, [10, 20, 30, 255])
        let made = try Self.bordered(picture, 2, 0xffff_8000, radius: 0).plainBytes
        for y in 0..<7 {
            for x in 0..<9 {
                let isBorder = min(x, 8 - x) < 2 || min(y, 6 - y) < 2
                let pixel = Array(made[(y * 9 + x) * 4..<(y * 9 + x) * 4 + 4])
                #expect(pixel == (isBorder ? [255, 128, 0, 255] : [10, 20, 30, 255]), "\(x), \(y)")
            }
        }
    }

    @Test(arguments: [4, 5, 100, Int(Int32.max)])
    func aWideBorderIsAllThereIs(width: Int) throws {
        let made = try Self.bordered(Self.plain(9, 7, [10, 20, 30, 40]), width, 0xff01_0203, radius: 3)
        #expect(made.plainBytes[(3 * 9 + 4) * 4..<(3 * 9 + 4) * 4 + 4].elementsEqual([1, 2, 3, 255]))
        #expect(
            try Self.bordered(Self.plain(1, 1, [0, 0, 0, 0]), width, 0xff01_0203, radius: 0).plainBytes == [
                1, 2, 3, 255,
            ])
    }

    /// With the radius of the corners, what they leave is covered, and nothing else.
    @Test func aBorderFollowsRoundCorners() throws {
        let white = try Self.plain(40, 30, [255, 255, 255, 255])
        let round = try TransformChain([.roundCorners(radius: 10, .all)]).apply(to: white)
        let made = try Self.bordered(round, 2, 0xff00_0000, radius: 10)
        let (before, after) = (round.plainBytes, made.plainBytes)
        for y in 0..<30 {
            for x in 0..<40 {
                let at = (y * 40 + x) * 4
                let place = (x: min(x, 39 - x), y: min(y, 29 - y))
                let (dx, dy) = (9.5 - Double(place.x), 9.5 - Double(place.y))
                let toEdge =
                    dx > 0 && dy > 0 ? 10 - (dx * dx + dy * dy).squareRoot() : Double(min(place.x, place.y)) + 0.5
                if toEdge < -0.5 { #expect(before[at + 3] == 0 && after[at + 3] == 0, "\(x), \(y)") }
                if toEdge > 0.5 && toEdge < 1.5 { #expect(after[at] < 10 && after[at + 3] == 255, "\(x), \(y)") }
                if toEdge > 2.5 { #expect(after[at] == 255, "\(x), \(y)") }
            }
        }
        // A corner that is not round has a border of its own.
        let square = try Self.bordered(white, 2, 0xff00_0000, radius: 10, [.topLeft]).plainBytes
        #expect(square[(29 * 40 + 39) * 4] == 0 && square[0] == 255)
    }

    @Test func aBorderMayShowThePictureThrough() throws {
        let made = try Self.bordered(Self.plain(5, 5, [0, 0, 0, 255]), 1, 0x80ff_ffff, radius: 0).plainBytes
        #expect(made[0...3].elementsEqual([128, 128, 128, 255]))
        let glass = try Self.bordered(Self.plain(5, 5, [0, 0, 0, 0]), 1, 0x80ff_ffff, radius: 0).plainBytes
        #expect(glass[0...3].elementsEqual([255, 255, 255, 128]))
    }

    // MARK: Tints

    @Test(arguments: PixelFormat.allCases)
    func aTintMixesColours(format: PixelFormat) throws {
        let chain = TransformChain([.tint(.init(argb: 0x40ff_0000))])
        let made = try chain.apply(to: Self.plain(3, 2, [0, 100, 200, 80], format))
        #expect(made.format == format)
        guard format != .grey8 else { return }
        let pixel = try made.straightCopy(isNarrow: true).plainBytes.prefix(4).map(Int.init)
        // A quarter of the tint, and three quarters of the picture; without alpha the picture is on black.
        let share = format.hasAlpha ? 1.0 : 80.0 / 255
        let expected = [64.0, 0.749 * 100 * share, 0.749 * 200 * share, format.hasAlpha ? 80 : 255]
        let tolerance = format.isPremultiplied ? 3.0 : 1.5
        #expect(zip(pixel, expected).allSatisfy { abs(Double($0) - $1) <= tolerance }, "\(pixel), not \(expected)")
    }

    // MARK: Blurs

    /// A white dot becomes a hill whose sum is that of the dot, and whose variance is the square of the number asked for.
    @Test(arguments: [1, 2, 3, 5, 8])
    func aBlurIsLikeAGaussianFunction(deviation: Int) throws {
        let side = 101
        var dot = [Double](repeating: 0, count: side)
        var rgba = [UInt8](repeating: 0, count: side * side * 4)
        for index in stride(from: 3, to: rgba.count, by: 4) { rgba[index] = 255 }
        // A line, since a dot would be too faint for 8 bits.
        for y in 0..<side {
            rgba.replaceSubrange((y * side + 50) * 4..<(y * side + 50) * 4 + 3, with: [255, 255, 255])
        }
        let deep = try Raster(width: side, height: side, rgba: rgba).pixels(as: .rgba16)
        let made = try TransformChain([.blur(deviation)]).apply(to: deep)
        let row = (made.base + 50 * made.stride).assumingMemoryBound(to: UInt16.self)
        for x in 0..<side { dot[x] = Double(row[x * 4]) / 65535 }
        #expect(abs(dot.reduce(0, +) - 1) < 0.001)
        var variance = 0.0
        for x in 0..<side { variance += dot[x] * Double((x - 50) * (x - 50)) }
        #expect(abs(variance.squareRoot() - Double(deviation)) < 0.15 * Double(deviation))
        #expect((0..<50).allSatisfy { dot[$0] <= dot[$0 + 1] + 1e-4 && abs(dot[50 + $0] - dot[50 - $0]) < 1e-4 })
    }

    @Test(arguments: PixelFormat.allCases)
    func aPlainPictureStaysPlain(format: PixelFormat) throws {
        let picture = try Self.plain(13, 7, [10, 200, 30, 255], format)
        for deviation in [0, 1, 4, 1000, Int(Int32.max)] {
            let made = try TransformChain([.blur(deviation)]).apply(to: picture)
            #expect(made.plainBytes == picture.plainBytes, "\(deviation)")
        }
    }

    /// Beyond its edges a picture goes on as at the edges, so a narrow one is blurred like a column of a wide one.
    @Test(arguments: [1, 2, 5, 17, 40]) func aNarrowPictureIsBlurredLikeAWideOne(deviation: Int) throws {
        let made = try [1, 3, 40].map { width in
            var rgba: [UInt8] = []
            for y in 0..<40 as Range<UInt8> {
                let pixel = [y &* y, y * 6, 255 - y, 40 + 5 * y]
                for _ in 0..<width { rgba += pixel }
            }
            let picture = try Raster(width: width, height: 40, rgba: rgba).pixels(as: .rgba8)
            return try TransformChain([.blur(deviation)]).apply(to: picture).plainBytes
        }
        for y in 0..<40 {
            let pixel = made[0][y * 4..<y * 4 + 4]
            #expect(pixel.elementsEqual(made[1][y * 12..<y * 12 + 4]), "\(y)")
            #expect(pixel.elementsEqual(made[2][y * 160..<y * 160 + 4]), "\(y)")
        }
    }

    /// Each row is one pixel that its box covers many thousand times.
    @Test(.timeLimit(.minutes(5))) func aBlurTakesTimeByThePixels() throws {
        let picture = try Self.plain(1, 100_000, [10, 200, 30, 255])
        #expect(try TransformChain([.blur(.max)]).apply(to: picture).plainBytes == picture.plainBytes)
    }

    /// The colour of what is transparent does not leak.
    @Test func transparencyHasNoColour() throws {
        let rgba = (0..<20).flatMap { $0 < 10 ? [255, 0, 0, 255] : [0, 255, 0, 0] as [UInt8] }
        let picture = try Raster(width: 20, height: 1, rgba: rgba).pixels(as: .rgba8)
        let made = try TransformChain([.blur(2)]).apply(to: picture).plainBytes
        for x in 0..<20 where made[x * 4 + 3] > 0 { #expect(made[x * 4] == 255 && made[x * 4 + 1] == 0) }
    }

    // MARK: -

    private static func picture() throws -> PixelBuffer {
        try Raster(pam: Fixtures.array("transformed/picture.pam")).pixels(as: .rgba8)
    }

    private static func plain(
        _ width: Int, _ height: Int, _ pixel: [UInt8], _ format: PixelFormat = .rgba8
    ) throws -> PixelBuffer {
        let rgba = (0..<width * height).flatMap { _ in pixel }
        return try Raster(width: width, height: height, rgba: rgba).pixels(as: format)
    }

    private static func turned(_ picture: PixelBuffer, _ degrees: Double, keepsSize: Bool = false) throws -> PixelBuffer
    {
        try TransformChain([.turn(.init(degrees: degrees, keepsSize: keepsSize))]).apply(to: picture)
    }

    private static func bordered(
        _ picture: PixelBuffer, _ width: Int, _ argb: UInt32, radius: Int, _ corners: PictureTransform.Corners = .all
    ) throws -> PixelBuffer {
        try TransformChain([.border(.init(width: width, .init(argb: argb), radius: radius, corners))]).apply(
            to: picture)
    }
}
