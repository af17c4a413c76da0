import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Whether a file's own format shows that the file is complete.
@Suite struct PictureEndTests {
    private func isReached(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes { PictureEnd.isReached(in: $0) }
    }

    @Test(arguments: Pictures.jpegs + Pictures.pngs)
    func isFoundInEachGoodPicture(_ name: String) throws {
        let bytes = try Fixtures.array(name)
        #expect(isReached(bytes[...]))
        #expect(isReached((bytes + [0, 0, 0, 1, 2, 3])[...]))
    }

    @Test(arguments: Pictures.jpegs + Pictures.pngs)
    func isNotFoundInAnyBeginning(_ name: String) throws {
        // given: the end marker is the last 2 or 12 bytes, and these files have nothing after it
        let bytes = try Fixtures.array(name)
        let end = bytes.count - (name.hasSuffix("jpg") ? 1 : 4)
        // when, then
        for count in stride(from: 0, to: end, by: max(1, bytes.count / 200)) {
            #expect(!isReached(bytes[..<count]), "\(count) of \(bytes.count)")
        }
    }

    /// A GIF of one pixel, with a comment and a table of colours.
    private static let gif: [UInt8] =
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        + [0x21, 0xFE, 3, 0x3B, 0x3B, 0x3B, 0] + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0] + [0x3B]

    private static let webp: [UInt8] =
        Array("RIFF".utf8) + [14, 0, 0, 0] + Array("WEBPVP8L".utf8) + [2, 0, 0, 0, 9, 9]

    @Test(arguments: [gif, webp])
    func isFoundInFormatsThatAreNotDecoded(_ bytes: [UInt8]) {
        #expect(isReached(bytes[...]))
        for count in 0..<bytes.count { #expect(!isReached(bytes[..<count]), "\(count) bytes") }
    }

    @Test func isNotFoundInOtherFormats() {
        for text in ["", "<html></html>", "GIF87a", "RIFF\0\0\0\0WAVE", "\u{89}PNG\r\n"] {
            #expect(!isReached(Array(text.utf8)[...]))
        }
    }
}
