package import SDDBase

/// Invalidation of stored responses by other requests: RFC 9111 §4.4. Pure.
extension CacheRules {
    /// Whether a response invalidates everything stored for the request's URL: an unsafe (RFC 9110 §9.2.1) or unknown
    /// method was successful. Methods are case-sensitive (RFC 9110 §9.1).
    package static func invalidates(method: String, status: Int32) -> Bool {
        !["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) && (200...399).contains(status)
    }

    /// Returns other URLs whose stored responses are invalidated as well.
    /// - Parameter resolve: resolves a reference relative to the request's URL; returns nil if the result is of another
    ///   origin, since one server must not invalidate another's responses.
    package static func alsoInvalidated(
        by fields: ResponseFields, resolve: (_ reference: String) -> String?
    ) -> [String] {
        (fields.values(of: "Location") + fields.values(of: "Content-Location")).compactMap(resolve)
    }

    /// Returns the GET request that the response to a POST answers as well, so that it may be stored for it: the server
    /// names the URL itself as what it has sent, and says how long that is fresh (RFC 9110 §9.3.3).
    /// - Parameter resolve: as for `alsoInvalidated`.
    package static func answeredGET(
        _ request: CacheableRequest, status: Int32, fields: ResponseFields, resolve: (_ reference: String) -> String?
    ) -> CacheableRequest? {
        let places = fields.values(of: "Content-Location")
        guard request.method == "POST", status == 200, places.count == 1, resolve(places[0]) == request.url,
            CacheControl(fields).maxAge != nil || fields.value(of: "Expires") != nil
        else { return nil }
        var get = request
        get.method = "GET"
        return get
    }
}
