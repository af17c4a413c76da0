import SDDBase
import Testing

@testable import SDDEngine

/// The test vectors of RFC 4648 §10, and the other cases of the Infra Standard §8.
@Suite struct ForgivingBase64Tests {
    @Test(arguments: [
        ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmE=", "fooba"),
        ("Zm9vYmFy", "foobar"),
        // Padding may be left out, and white space may be anywhere, also within it.
        ("Zg", "f"), ("Zm8", "fo"), (" Z m\t9\nv\r Y\u{c}g= = ", "foob"),
        // Bits beyond the last byte are ignored; these two are by Python's base64.
        ("Zh==", "f"), ("Zm9=", "fo"),
    ])
    func decodes(text: String, plain: String) {
        #expect(decoded(text) == Array(plain.utf8))
    }

    @Test func decodesAllDigits() {
        // Values 0 to 63, six bits each.
        let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        let bits = (0..<64).flatMap { value in (0..<6).map { value >> (5 - $0) & 1 } }
        let expected = (0..<48).map { byte in UInt8(bits[byte * 8..<byte * 8 + 8].reduce(0) { $0 * 2 + $1 }) }
        #expect(decoded(digits) == expected)
    }

    @Test(arguments: [
        "Z", "Zm9vY", "Zg=", "Zm8==", "Zm9v=", "Zm9v==", "Zm9v====", "Z===", "=", "==", "====", "Zg=a", "Z=g=", "Zm-_",
        "Zm9v!", "Zg%3D%3D", "Zm9\u{b}v", "Zm9\u{0}v", "é",
    ])
    func refuses(text: String) {
        #expect(decoded(text) == nil)
    }

    private func decoded(_ text: String) -> [UInt8]? {
        var bytes = Array(text.utf8)
        let count = bytes.withUnsafeMutableBufferPointer { ForgivingBase64.decode($0) }
        return count.map { Array(bytes[..<$0]) }
    }
}
