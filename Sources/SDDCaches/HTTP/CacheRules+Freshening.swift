package import SDDBase

/// Updating a stored response with a 304: RFC 9111 §4.3.4 and §3.2. Pure.
extension CacheRules {
    /// Returns the stored response as updated by a 304. It answers the validated request, whatever its fields now say;
    /// `mayBeKept` tells whether it may remain stored.
    /// - Parameters:
    ///   - request: the request that was answered by the 304.
    ///   - notModified: the fields of the 304.
    /// - Returns: nil if the 304 refers to another response, so that the request must be repeated without conditions;
    ///   or if there is no memory.
    package static func freshened(
        _ stored: StoredResponse, by notModified: ResponseFields, for request: CacheableRequest, requestTime: Int64,
        responseTime: Int64
    ) -> StoredResponse? {
        guard isNamed(stored, by: notModified, at: responseTime),
            let fields = merged(stored.fields, with: notModified)
        else { return nil }
        var fresh = stored
        fresh.fields = fields
        fresh.requestTime = requestTime
        fresh.responseTime = responseTime
        // The 304 may change Vary. This request is the one that the response was selected for.
        fresh.selecting = selecting(Vary.names(in: fields) ?? [], in: request)
        return fresh
    }

    private static func merged(_ old: ResponseFields, with notModified: ResponseFields) -> ResponseFields? {
        guard let new = StorableFields.kept(of: notModified) else { return nil }
        let added = new.all.filter { !bodysOwn.contains(FieldText.lowered($0.name)) }
        let replaced = Set(added.map { FieldText.lowered($0.name) }).union(momentsOwn)
        let left = old.all.filter { !replaced.contains(FieldText.lowered($0.name)) }
        var builder = ResponseFieldsBuilder()
        for field in left + added {
            guard builder.append(field.name, field.value) else { return nil }
        }
        // Filtered once more, since no-cache may name other fields now.
        return withExtendedLifetime((old, new)) { StorableFields.kept(of: builder.take()) }
    }

    /// Fields that describe the stored body (§3.2). A 304 has no body, so its values for them are ignored.
    private static let bodysOwn: Set<String> = [
        "content-digest", "content-encoding", "content-length", "content-md5", "content-range", "content-type",
    ]

    /// Fields that tell the age of the old response. They must not apply to the updated one, even if the 304 lacks
    /// them.
    private static let momentsOwn: Set<String> = ["age", "date"]
}
