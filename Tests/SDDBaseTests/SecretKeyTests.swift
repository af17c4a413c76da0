import SDDBase
import Testing

@Suite struct SecretKeyTests {
    private let key = SecretKey(Array(0..<32))

    /// HMACs by Python's hmac, with the bytes 0 to 31 as the key.
    @Test(arguments: [
        ("", "d38b42096d80f45f826b44a9d5607de7"),
        ("caller\nuser 5 alice\n", "29619ee23b98950d0635c1deec65057d"),
        (String(repeating: "x", count: 200), "7b48ae507721b7feb27d8403d20568ca"),
    ])
    func marksAreHMACs(text: String, expected: String) throws {
        #expect(try #require(key).mark(of: text) == expected)
    }

    @Test func differentKeysMakeDifferentMarks() throws {
        let other = try #require(SecretKey(SecretKey.randomBytes()))
        #expect(try #require(key).mark(of: "a") != other.mark(of: "a"))
        #expect(SecretKey.process.mark(of: "a") == SecretKey.process.mark(of: "a"))
    }

    @Test(arguments: [0, 31, 33]) func keysHaveOneLength(count: Int) {
        #expect(SecretKey([UInt8](repeating: 1, count: count)) == nil)
    }
}
