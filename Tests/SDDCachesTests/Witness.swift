import SDDBase

/// An object for memory caches in tests, which reports when it is freed.
final class Witness: Sendable {
    let number: Int
    private let whenGone: (@Sendable () -> Void)?

    init(_ number: Int, whenGone: (@Sendable () -> Void)? = nil) {
        self.number = number
        self.whenGone = whenGone
    }

    deinit { whenGone?() }
}

/// Passes the bytes of a key, as a caller has them.
func withKey<Result>(_ key: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    Array(key.utf8).withUnsafeBytes(body)
}
