import SDDBase
import SDDCaches
import TestSupport
import Testing

@Suite struct StoredResponseTests {
    private func decoded(_ bytes: [UInt8]) -> StoredResponse? {
        bytes.withUnsafeBytes { StoredResponse(decoding: $0) }
    }

    /// Written by hand, following the format in the comment of the extension.
    private static let example = Array(
        ([
            [2],
            [2, 0, 0, 0], [1, 0, 0, 0, 97, 1, 32, 0, 0, 0], Array(SecretKey.process.mark(of: "vary\na\n12").utf8),
            [1, 0, 0, 0, 98, 0],
            [200, 0, 0, 0],
            [0, 202, 154, 59, 0, 0, 0, 0], [1, 202, 154, 59, 0, 0, 0, 0], [7, 0, 0, 0, 0, 0, 0, 0],
            [3, 0, 0, 0], Array("u:/".utf8),
            [1, 0, 0, 0], [4, 0, 0, 0], Array("Vary".utf8), [4, 0, 0, 0], Array("A, B".utf8),
        ] as [[UInt8]]).joined())

    @Test func isEncodedAsDocumented() throws {
        // given
        let stored = try #require(
            CacheRules.makeStored(
                request(["A: 12"]), status: 200, url: "u:/", fields: responseFields(["Vary: A, B"]),
                requestTime: 1_000_000_000, responseTime: 1_000_000_001, family: 7))
        // when, then
        #expect(stored.encoded() == Self.example)
        let back = try #require(decoded(Self.example))
        #expect(back.status == 200 && back.url == "u:/" && back.family == 7)
        #expect(back.requestTime == 1_000_000_000 && back.responseTime == 1_000_000_001)
        #expect(lines(back.fields) == ["Vary: A, B"] && back.selecting == stored.selecting)
        #expect(CacheRules.selects(back, request(["A: 12"])))
    }

    @Test("the body of an error response is not the picture of its URL")
    func onlyASuccessIsAPicture() {
        for (status, isTaken) in [(200, true), (203, true), (404, false), (500, false)] as [(UInt32, Bool)] {
            var bytes = Self.example
            // Behind the version and the selecting fields.
            withUnsafeBytes(of: status.littleEndian) { bytes.replaceSubrange(53..<57, with: $0) }
            #expect((bytes.withUnsafeBytes { StoredSelection(decoding: $0) } != nil) == isTaken)
        }
    }

    @Test func truncatedOrLongerBytesAreRefused() {
        for count in Self.example.indices { #expect(decoded(Array(Self.example.prefix(count))) == nil) }
        #expect(decoded(Self.example + [0]) == nil)
    }

    @Test func anotherVersionIsRefused() {
        for version in [0, 1, 255] as [UInt8] { #expect(decoded([version] + Self.example.dropFirst()) == nil) }
    }

    @Test func hugeCountsAndTextsWithNULAreRefused() throws {
        for place in Self.example.indices.dropLast(3) {
            var bytes = Self.example
            bytes.replaceSubrange(place..<place + 4, with: [255, 255, 255, 255])
            _ = decoded(bytes)
        }
        var bytes = Self.example
        let nameStart = try #require(bytes.firstIndex(of: UInt8(ascii: "V")))
        bytes[nameStart] = 0
        #expect(decoded(bytes) == nil)
    }

    @Test func bytesThatAreNotUTF8RoundTrip() throws {
        // given
        var bytes = Self.example
        let value = try #require(bytes.firstIndex(of: UInt8(ascii: ",")))
        bytes[value] = 0xe9
        // when, then
        #expect(decoded(bytes)?.encoded() == bytes)
    }

    @Test func variantsOfOtherFamiliesDoNotMatch() throws {
        var (primary, variant) = (try #require(response([])), try #require(response([])))
        primary.family = 1
        variant.family = 2
        #expect(!variant.isVariant(of: primary))
        variant.family = 1
        #expect(variant.isVariant(of: primary))
    }
}
