package import SDDBase

/// What the rules have to know of a request. A value.
package struct CacheableRequest: Sendable {
    package var method: String
    package var url: String
    /// As they are sent.
    package var headers: HTTPFields
    /// There is no network, or it is not to be used: what is stored is good, however old.
    package var isOffline: Bool
    /// As if nothing were stored yet; what comes is stored. While offline it has no meaning.
    package var ignoresCache: Bool
    /// Values of fields by which a server chooses are stored as marks made with it.
    package var secret: SecretKey

    package init(
        method: String = "GET", url: String, headers: HTTPFields = HTTPFields(), isOffline: Bool = false,
        ignoresCache: Bool = false, secret: SecretKey = .process
    ) {
        self.secret = secret
        self.method = method
        self.url = url
        self.headers = headers
        self.isOffline = isOffline
        self.ignoresCache = ignoresCache
    }

    package var cacheControl: CacheControl { CacheControl(headers) }

    /// Such a request is between its caller and the server: another method than GET, or questions of the caller's own
    /// (RFC 9110 §13.1, §14.2), whose answers are not the whole picture.
    var isBeyondCaches: Bool {
        method != "GET" || Self.ownQuestions.contains { headers[$0] != nil }
    }

    private static let ownQuestions = [
        "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range",
    ]
}

/// What is to be done about a request. Ages are in seconds. A value.
package enum CacheAnswer: Equatable, Sendable {
    /// The cache has no part in it: the response is not stored either.
    case bypass
    /// Nothing stored is of use: ask as if there were no cache, and store what comes.
    case miss
    case fresh(age: Int64)
    /// Good at once; and somebody is to ask the server for a newer one (RFC 5861 §3).
    case staleWhileRevalidate(age: Int64)
    /// Good, since the caller takes stale ones.
    case stale(age: Int64)
    /// Ask with these fields added: 304 means that the stored one is good (`freshened`). There may be none of them, for
    /// a response without validators. If asking fails, the stored one may do (`mayServeStale` says so then).
    case validate(conditions: HTTPFields, mayServeIfError: Bool)
    /// Nothing that may be used, and the network must not be asked: RFC 9111 §5.2.1.7 has 504 for it.
    case unavailable
}
