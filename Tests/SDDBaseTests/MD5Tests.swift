import SDDBase
import Testing

@Suite struct MD5Tests {
    @Test(
        "RFC 1321 A.5",
        arguments: [
            ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            (
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "d174ab98d277d9f5a5611c2c9f419d9f"
            ),
            (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
        ])
    func givesTheDigestsOfTheRFC(text: String, digits: String) {
        #expect(MD5.hex(of: text) == digits)
    }

    @Test(
        "RFC 1321 §3.1: lengths around the ends of blocks, as md5sum has them",
        arguments: [
            (55, "0d7ae056b2f015cd7dc67494efd658f1"), (56, "31fcfb5165169eb55898e7e4cf34d19a"),
            (57, "fd62afaf3aa1e2a52882cb464f5ccc4d"), (63, "1b30c0670c15e7da3c2ba7bce77ebe99"),
            (64, "a2eaf6295c32adc403865fd96a2f182b"), (65, "eba2cce0ca8df47e62414a736b3105a2"),
            (119, "b05187e08da41fa3ef16bd56afaafd99"), (120, "62af9b597a9f55e16ab2b897387fc052"),
            (1000, "303fb697b589019cb3edba04b794e575"),
        ])
    func padsEveryLength(count: Int, digits: String) {
        let text = String(decoding: (0..<count).map { UInt8(97 + $0 % 26) }, as: UTF8.self)
        #expect(MD5.hex(of: text) == digits)
    }

    @Test func hashesTheUTF8Bytes() {
        #expect(MD5.hex(of: "naïve/Ünï.png") == "dd4d2d2de9a7ff84205fc5718d859041")
    }
}
