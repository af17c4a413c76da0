import SDDBase

/// The failed stores that a caller may still ask about. A value type of bounded size.
struct StoreFailures {
    /// The keys whose last store has failed. Of more than this many none is remembered; their callers ask soon.
    private static let most = 4096

    private var errors: [ExactText<String>: CacheError] = [:]
    private var first: CacheError?

    subscript(key: String) -> CacheError? { errors[ExactText(key)] }

    /// - Parameter isLost: false if an older entry stays that is as good.
    mutating func failed(_ key: String, _ error: CacheError, isLost: Bool) {
        // An image that cannot be encoded is no failure of the disk.
        if first == nil, error != .nothing { first = error }
        if !isLost { return }
        if errors.count >= Self.most { errors = [:] }
        errors[ExactText(key)] = error
    }

    mutating func stored(_ key: String) { if !errors.isEmpty { errors[ExactText(key)] = nil } }

    /// Returns the first error since the last call.
    mutating func takeFirst() -> CacheError? {
        defer { first = nil }
        return first
    }
}
