internal import SDDBase

/// Which fields of a response are kept with it (RFC 9111 §3.1). Pure. Not kept are those
/// * of one connection, and those that Connection names (RFC 9110 §7.6.1);
/// * of a proxy, which is not part of what an entry is found by;
/// * that no-cache names: they may not be used again without asking;
/// * that set cookies: they were set when the response came, and must not be set again, as they were, by each use.
enum StorableFields {
    private static let never: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "set-cookie", "set-cookie2",
    ]

    /// What the rules go by. No server may take them away by naming them: RFC 9110 §7.6.1 says of Cache-Control that
    /// it is never a connection's own.
    private static let needed: Set<String> = [
        "age", "cache-control", "date", "etag", "expires", "last-modified", "pragma", "vary",
    ]

    /// - Parameter name: in lower case.
    static func areNeeded(_ name: String) -> Bool { needed.contains(name) }

    /// nil when there is no memory.
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
