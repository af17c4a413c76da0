import SDDCoders
import TestSupport
import Testing

@Suite struct ImageFormatTests {
    private static let ftyp = "\0\0\0\u{18}ftyp"

    @Test(
        arguments: [
            ("\u{89}PNG\r\n\u{1a}\n", nil), ("GIF87a", .gif), ("GIF89a", .gif), ("GIF88a", nil), ("GIF8", nil),
            ("RIFF\0\0\0\0WEBP", .webp), ("RIFF\0\0\0\0WAVE", nil), ("RIFF\0\0\0\0WEB", nil),
            (ftyp + "avif\0\0\0\0avifmif1", .avif), (ftyp + "avis\0\0\0\0avifmif1", .avif),
            (ftyp + "mif1\0\0\0\0mif1avif", .avif), (ftyp + "heic\0\0\0\0heicmif1", .heif),
            (ftyp + "mif1\0\0\0\0mif1heic", .heif), (ftyp + "msf1\0\0\0\0msf1hevc", .heif),
            // Any codec will do, and bytes after the box do not count.
            (ftyp + "mif1\0\0\0\0mif1miaf", .heif), ("\0\0\0\u{14}ftypmif1\0\0\0\0mif1avif", .heif),
            (ftyp + "isom\0\0\0\0avifmif1", nil), ("\0\0\0\u{0f}ftypavif\0\0\0\0", nil), (ftyp + "avif", nil),
            ("II*\0", .tiff), ("MM\0*", .tiff), ("II*", nil), ("MM*\0", nil), ("II+\0\u{8}\0\0\0", .tiff),
            ("MM\0+\0\u{8}\0\0", .tiff), ("II+\0", nil),
            ("BM\0\0\0\0\0\0\0\0\0\0\0\0\u{28}\0\0\0", .bmp), ("BM\0\0\0\0\0\0\0\0\0\0\0\0\u{0c}\0\0\0", .bmp),
            ("BM\0\0\0\0\0\0\0\0\0\0\0\0\u{29}\0\0\0", nil), ("BMW, a car maker in Munich", nil), ("BM", nil),
            ("\0\0\u{1}\0\u{1}\0\u{10}\u{10}\0\0\u{1}\0\u{20}\0\u{68}\u{4}\0\0\u{16}\0\0\0", .ico),
            ("\0\0\u{2}\0\u{2}\0\0\0\0\u{ff}\0\0\0\0\u{1}\0\0\0\u{26}\0\0\0", .ico),
            ("\0\0\u{1}\0\u{2}\0\0\0\0\0\0\0\0\0\u{1}\0\0\0\u{25}\0\0\0", nil),
            ("\0\0\u{1}\0\0\0\0\0\0\0\0\0\0\0\u{1}\0\0\0\u{16}\0\0\0", nil),
            ("\0\0\u{1}\0\u{1}\0\0\0\0\0\0\0\0\0\0\0\0\0\u{16}\0\0\0", nil), ("\0\0\u{3}\0\u{1}\0", nil),
            ("%PDF-1.7", .pdf), ("%PDF", nil), ("", nil), ("<", nil), ("plain text", nil),
        ] as [(String, ImageFormat?)])
    func isRecognizedByItsWholeMagicNumber(text: String, expected: ImageFormat?) {
        // The text is in Latin-1: one byte per character.
        let bytes = text.unicodeScalars.map { UInt8($0.value) }
        #expect(sniffed(bytes) == (text.hasPrefix("\u{89}") ? .png : expected))
        // No format is recognized while its magic number is incomplete.
        if let expected, expected != .heif { #expect(sniffed(bytes.dropLast(bytes.count / 2 + 1)) == nil) }
    }

    @Test(
        arguments: [
            ("<svg>", true), ("<svg xmlns='x'>", true), ("<svg/>", true), ("<svg:svg x=''>", true), ("<svg", false),
            ("<svgs>", false), ("<SVG>", false), ("<html><svg></html>", false), ("\u{feff}<svg>", true),
            ("<?xml version='1.0'?>\n<!-- > <html> -->\n<svg>", true), ("<?xml version='1.0'?>", false),
            ("<?xml", false), ("<!-- <svg>", false), ("<!DOCTYPE svg PUBLIC '-//W3C//DTD' 'x'>\n<svg\n", true),
            ("<!DOCTYPE svg [<!ENTITY a '>'>]>\t<svg>", true), ("<!DOCTYPE svg [<svg>", false),
            ("<!DOCTYPE html><html>", false), ("<!DOCTYPE", false), (String(repeating: " ", count: 70_000), false),
            (String(repeating: " ", count: 60_000) + "<svg>", true),
            (String(repeating: "<?", count: 30_000), false), (String(repeating: "<!---->", count: 9000), false),
        ])
    func anSVGIsRecognizedByItsFirstElement(text: String, isSVG: Bool) {
        #expect(sniffed(text.utf8) == (isSVG ? .svg : nil))
    }

    @Test(arguments: Pictures.jpegs + Pictures.pngs)
    func recognizesTheFixtures(name: String) throws {
        #expect(try sniffed(Fixtures.array(name)) == (name.hasSuffix("jpg") ? .jpeg : .png))
    }

    @Test func everyTruncationAndEveryByteIsSafe() {
        var random = SystemRandomNumberGenerator()
        let beginnings = ["\0\0\0\u{18}ftypmif1\0\0\0\0mif1avif", "<!DOCTYPE a [", "<?xml?><!-- -->", "BM", "RIFF"]
        for text in beginnings {
            for _ in 0..<200 {
                var bytes = Array(text.utf8)
                for index in bytes.indices where UInt8.random(in: 0...15, using: &random) == 0 {
                    bytes[index] = .random(in: 0...255, using: &random)
                }
                for count in 0...bytes.count { _ = sniffed(bytes.prefix(count)) }
            }
        }
    }

    @Test func otherNumbersAreNotFormats() {
        #expect([-1, 0, 14, 999, Int32.min].allSatisfy { ImageFormat(rawValue: $0) == nil })
        #expect([1, 10, 1000, Int32.max].allSatisfy { ImageFormat(rawValue: $0)?.rawValue == $0 })
    }

    private func sniffed(_ bytes: some Sequence<UInt8>) -> ImageFormat? {
        Array(bytes).withUnsafeBytes { ImageFormat(magicNumberOf: $0) }
    }
}
