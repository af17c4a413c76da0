package import SDDBase

/// What other requests do to stored responses: RFC 9111 §4.4. Pure.
extension CacheRules {
    /// Whether all that is stored for the request's URL is to go: an unsafe method (RFC 9110 §9.2.1), or one nobody
    /// knows, had success. Methods have a case (RFC 9110 §9.1).
    package static func invalidates(method: String, status: Int32) -> Bool {
        !["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) && (200...399).contains(status)
    }

    /// Other URLs whose stored responses are to go with it.
    /// - Parameter resolve: makes a URL of a reference, relative to the request's; nil for one of another origin, which
    ///   one server must not do to another.
    package static func alsoInvalidated(
        by fields: ResponseFields, resolve: (_ reference: String) -> String?
    ) -> [String] {
        (fields.values(of: "Location") + fields.values(of: "Content-Location")).compactMap(resolve)
    }
}
