internal import SDDBase

/// The response fields that are stored (RFC 9111 §3.1). Pure. The following are not stored:
/// * fields of one connection, including those that Connection names (RFC 9110 §7.6.1);
/// * fields of a proxy, since the proxy is not part of an entry's key;
/// * fields that no-cache names, which must not be reused without validation;
/// * fields that set cookies: they took effect when the response came, and reuse must not set them again.
enum StorableFields {
    private static let never: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "set-cookie", "set-cookie2",
    ]

    /// The fields that the caching rules depend on. A server cannot remove them by naming them in Connection or
    /// no-cache: RFC 9110 §7.6.1 says that Cache-Control must never be listed in Connection.
    private static let needed: Set<String> = [
        "age", "cache-control", "date", "etag", "expires", "last-modified", "pragma", "vary",
    ]

    /// - Parameter name: in lower case.
    static func areNeeded(_ name: String) -> Bool { needed.contains(name) }

    /// Returns the fields to store; nil when there is no memory.
    static func kept(of fields: ResponseFields) -> ResponseFields? {
        let named = FieldText.members(of: fields.values(of: "Connection")).map(FieldText.lowered)
        let dropped = never.union(named).union(CacheControl(fields).withheldFields).subtracting(needed)
        var builder = ResponseFieldsBuilder()
        for field in fields.all where !dropped.contains(FieldText.lowered(field.name)) {
            guard builder.append(field.name, field.value) else { return nil }
        }
        return withExtendedLifetime(fields) { builder.take() }
    }
}
