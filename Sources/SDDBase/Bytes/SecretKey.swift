/// A random key that turns texts into marks: equal for equal texts, and useless for guessing the text without the key.
/// HMAC-SHA256 (RFC 2104, FIPS 180-4), truncated to 128 bits. A value type; safe on any thread.
package struct SecretKey: Sendable {
    package static let byteCount = 32
    private static let blockLength = 64

    /// The key, padded to a block of SHA-256 and combined with the two constants of RFC 2104 §2.
    private let inner: [UInt8]
    private let outer: [UInt8]

    /// - Returns: nil unless there are exactly `byteCount` bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(checked: Array(bytes))
    }

    package var bytes: [UInt8] { inner.prefix(Self.byteCount).map { $0 ^ 0x36 } }

    /// Returns bytes for a new key from the system's generator, getrandom(2).
    package static func randomBytes() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// The key of this process, for marks that do not outlive it.
    package static let process = SecretKey(checked: randomBytes())

    private init(checked bytes: [UInt8]) {
        let block = bytes + [UInt8](repeating: 0, count: Self.blockLength - bytes.count)
        inner = block.map { $0 ^ 0x36 }
        outer = block.map { $0 ^ 0x5c }
    }

    /// Returns the mark of a text as 32 hexadecimal digits.
    package func mark(of text: String) -> String {
        let digest = hash(outer, hash(inner, Array(text.utf8))).prefix(16)
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private func hash(_ pad: [UInt8], _ message: [UInt8]) -> [UInt8] {
        (pad + message).withUnsafeBytes { SHA256.digest(of: $0) }
    }
}
