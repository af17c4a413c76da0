import SDDBase
import SDDCoders
import TestSupport
import Testing

@Suite struct JPEGDecoderTests {
    private let decoders = DecoderSet(registry: .builtIn)

    @Test(arguments: Pictures.jpegs)
    func givesThePixelsOfTheReference(name: String) throws {
        // given
        let bytes = try Fixtures.bytes(name)
        // when
        let image = try decoders.decode(bytes, form: .stored, maxPixels: 1 << 20)
        // then
        #expect(try Raster(image) == Pictures.expected(name))
        #expect(image.format == .jpeg)
        #expect(image.bytes === bytes)
    }

    @Test(arguments: [
        ("arithmetic-cut", CoderError.Kind.truncated), ("huge", .tooManyPixels), ("lossless", .unsupported),
        ("restart-missing", .corrupt), ("scan-missing", .corrupt), ("too-wide", .unsupported),
        ("twelve-bit", .unsupported), ("two-ends", .corrupt), ("zero-height", .zeroPixels),
        ("zero-width", .zeroPixels),
    ])
    func reportsTheKindOfError(name: String, kind: CoderError.Kind) throws {
        // given
        let bytes = try Fixtures.bytes("jpeg/bad/\(name).jpg")
        // when
        let outcome = decoders.outcome(bytes, maxPixels: 128 << 20)
        // then
        #expect(outcome == .failure(kind))
    }

    @Test func keepsTheMessageOfTheLibrary() throws {
        // given
        let bytes = try Fixtures.bytes("jpeg/bad/restart-missing.jpg")
        // when
        let error = #expect(throws: CoderError.self) {
            try decoders.decode(bytes, form: .stored, maxPixels: 1 << 20)
        }
        // then
        #expect(error?.reason.contains("RST2") == true)
    }

    /// Only the end marker, of two bytes, may be missing; with arithmetic coding, where zeros at the end of a scan may
    /// be left out, also bytes that the decoder does not read.
    @Test(arguments: Pictures.jpegs)
    func needsEveryByteUpToTheLastPixel(name: String) throws {
        // given
        let whole = try Fixtures.array(name)
        let expected = try Outcome.picture(Pictures.expected(name))
        for count in 2..<whole.count {
            // when
            let outcome = decoders.outcome(whole.prefix(count))
            // then
            if name.contains("arithmetic"), count >= whole.count - 4 {
                #expect(outcome == expected || outcome == .failure(.truncated), "\(count) bytes")
            } else {
                #expect(outcome == (count >= whole.count - 2 ? expected : .failure(.truncated)), "\(count) bytes")
            }
        }
    }

    @Test func ignoresBytesAfterTheLastPixel() throws {
        // given
        let name = "jpeg/progressive-420.jpg"
        let whole = try Fixtures.array(name)
        // when
        let outcome = decoders.outcome(whole + whole + [0xff, 0xda, 1, 2, 3])
        // then
        #expect(try outcome == .picture(Pictures.expected(name)))
    }

    @Test(arguments: [(500, true), (501, false), (5000, false)])
    func takesAtMost500Scans(count: Int, isTaken: Bool) throws {
        // given
        let name = "jpeg/progressive-spectral.jpg"  // has four scans
        let whole = try Fixtures.array(name)
        let start = try #require(whole.indices.last { whole[$0...].starts(with: [0xff, 0xda]) })
        let lastScan = whole[start..<(whole.count - 2)]
        var bytes = whole.dropLast(2)
        for _ in 4..<count { bytes += lastScan }
        // when
        let outcome = decoders.outcome(bytes + whole.suffix(2))
        // then
        #expect(try outcome == (isTaken ? .picture(Pictures.expected(name)) : .failure(.tooManyScans)))
    }

    /// In a progressive picture, bytes that belong to nothing may be the rest of a scan.
    @Test(arguments: ["jpeg/progressive-420.jpg", "jpeg/arithmetic-progressive.jpg"])
    func detectsAScanWithoutAMarker(name: String) throws {
        // given
        var bytes = try Fixtures.array(name)
        let start = try #require(bytes.indices.last { bytes[$0...].starts(with: [0xff, 0xda]) })
        bytes[start] = 0
        // when
        let outcome = decoders.outcome(bytes)
        // then
        #expect(outcome == .failure(.corrupt))
    }

    @Test func doesNotReuseTheTablesOfAnotherPicture() throws {
        // given
        let whole = try Fixtures.array("jpeg/baseline-420.jpg")
        let table = try #require(whole.indices.first { whole[$0...].starts(with: [0xff, 0xdb]) })
        let length = Int(whole[table + 2]) << 8 | Int(whole[table + 3])
        var lacking = whole
        lacking.removeSubrange(table..<(table + 2 + length))
        let alone = DecoderSet(registry: .builtIn).outcome(lacking)
        // when
        _ = decoders.outcome(whole)
        let after = decoders.outcome(lacking)
        // then
        #expect(alone == .failure(.corrupt))
        #expect(after == alone)
    }
}
