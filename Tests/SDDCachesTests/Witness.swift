import SDDBase

/// What tests put into a memory cache: something that tells when it goes.
final class Witness: Sendable {
    let number: Int
    private let whenGone: (@Sendable () -> Void)?

    init(_ number: Int, whenGone: (@Sendable () -> Void)? = nil) {
        self.number = number
        self.whenGone = whenGone
    }

    deinit { whenGone?() }
}

/// The bytes of a key, as a caller hands them in.
func withKey<Result>(_ key: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    Array(key.utf8).withUnsafeBytes(body)
}
