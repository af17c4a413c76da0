package import SDDBase

/// What a 304 changes in what is stored: RFC 9111 §4.3.4 and §3.2. Pure.
extension CacheRules {
    /// The stored response as it is after the server has said that it still holds. It answers the request that was
    /// asked for, whatever its fields say now; whether it stays stored is what `mayBeKept` says.
    /// - Parameters:
    ///   - request: the one that was answered by the 304.
    ///   - notModified: the fields of the 304.
    /// - Returns: nil when these speak of another response, so that the whole must be asked for without conditions;
    ///   or when there is no memory.
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
        // The 304 may say of which other fields the response depends: this request is the one it was chosen for.
        fresh.selecting = selecting(names(inVaryOf: fields) ?? [], in: request)
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
        // Once more, for no-cache may name other fields now.
        return withExtendedLifetime((old, new)) { StorableFields.kept(of: builder.take()) }
    }

    /// §3.2: they say how the stored body is to be read, or what it measures. A 304, which has none, cannot know better.
    private static let bodysOwn: Set<String> = [
        "content-digest", "content-encoding", "content-length", "content-md5", "content-range", "content-type",
    ]

    /// They told the age of the older response, and must not count for the new one, even if that does not tell its own.
    private static let momentsOwn: Set<String> = ["age", "date"]
}
