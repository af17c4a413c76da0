package import SDDBase

/// The properties of a request that the caching rules need. A value type.
package struct CacheableRequest: Sendable {
    package var method: String
    package var url: String
    /// The header fields as sent.
    package var headers: HTTPFields
    /// True if the network is unavailable or must not be used: any stored response is accepted, however old.
    package var isOffline: Bool
    /// True if stored responses are ignored; the new one is stored. Has no effect while offline.
    package var ignoresCache: Bool
    /// The key for the marks that replace the values of request fields in stored responses.
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

    /// The range that is asked for; nil for a request for the whole body, and for a Range that the cache leaves to the
    /// server.
    package var range: RangeWish? { RangeWish(headers) }

    /// True if the cache is not involved: the method is not GET, or the caller has set conditions itself (RFC 9110
    /// §13.1), or has asked for ranges in a way that only the server answers (§14.2).
    var isBeyondCaches: Bool {
        if method != "GET" || Self.conditions.contains(where: { headers[$0] != nil }) { return true }
        return (headers["Range"] != nil || headers["If-Range"] != nil) && range == nil
    }

    private static let conditions = ["If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"]
}

/// The cache's decision about a request. Ages are in seconds. A value type.
package enum CacheAnswer: Equatable, Sendable {
    /// The cache is not involved: the response is not stored either.
    case bypass
    /// No stored response is usable: send the request unchanged and store the response.
    case miss
    case fresh(age: Int64)
    /// The stored response may be used at once, and should be revalidated in the background (RFC 5861 §3).
    case staleWhileRevalidate(age: Int64)
    /// The stored response is stale, but the caller accepts it.
    case stale(age: Int64)
    /// Send the request with these additional fields; a 304 confirms the stored response (`freshened`). The fields are
    /// empty for a response without validators. If the request fails, `mayServeStale` decides whether the stored
    /// response may be used.
    case validate(conditions: HTTPFields, mayServeIfError: Bool)
    /// No stored response is usable and the network must not be used; RFC 9111 §5.2.1.7 calls for status 504.
    case unavailable
}
