package import SDDBase

/// Storing parts of bodies: RFC 9111 §3.3 and §3.4. Pure.
extension CacheRules {
    /// Makes the stored form of a 206 that answers a request for a range.
    /// - Parameter bodyCount: the bytes that came.
    /// - Returns: nil if the response must not be stored, or does not tell where its bytes belong.
    package static func makePart(
        _ request: CacheableRequest, url: String, fields: ResponseFields, bodyCount: Int, requestTime: Int64,
        responseTime: Int64
    ) -> StoredParts? {
        // §3.3: a 206 may be stored as if it were an incomplete 200.
        guard let wish = request.range, stores(request, status: 200, fields: fields, isComplete: true),
            isCuttable(fields),
            let range = ContentRange(of: fields), let piece = range.positions, piece.count == bodyCount,
            wish.allows(piece, of: range.total),
            var response = makeStored(
                request, status: 200, url: url, fields: fields, requestTime: requestTime, responseTime: responseTime,
                family: 0),
            let ofWhole = withoutPart(response.fields)
        else { return nil }
        response.fields = ofWhole
        return StoredParts(response: response, total: range.total, pieces: [piece], asked: wish.text, answer: piece)
    }

    /// Whether positions in the stored body are those that its server counts: not if it has been unpacked.
    package static func isCuttable(_ fields: ResponseFields) -> Bool { fields.value(of: "Content-Encoding") == nil }

    /// Joins stored parts with a newer one (§3.4), whose fields replace theirs.
    /// - Returns: nil unless both are certainly of the same body, which only an equal strong entity tag proves.
    package static func joined(
        _ old: StoredParts, with new: StoredParts, for request: CacheableRequest
    ) -> (StoredParts, [StoredParts.Stretch])? {
        guard let tag = EntityTag(of: old.response.fields), let other = EntityTag(of: new.response.fields),
            tag.matchesStrongly(other), old.response.url == new.response.url,
            let response = freshened(
                old.response, by: new.response.fields, for: request, requestTime: new.response.requestTime,
                responseTime: new.response.responseTime)
        else { return nil }
        return old.joined(with: new, as: response)
    }

    /// Returns the response of the whole body that parts have made complete.
    /// - Returns: nil if something is missing, or there is no memory.
    package static func whole(of parts: StoredParts, family: UInt64) -> StoredResponse? {
        guard parts.isWhole, let total = parts.total else { return nil }
        var builder = ResponseFieldsBuilder()
        let fields = parts.response.fields
        guard copy(fields, to: &builder), builder.append("Content-Length", String(total)) else { return nil }
        var response = parts.response
        response.fields = withExtendedLifetime(fields) { builder.take() }
        response.family = family
        return response
    }

    private static func withoutPart(_ fields: ResponseFields) -> ResponseFields? {
        var builder = ResponseFieldsBuilder()
        guard copy(fields, to: &builder) else { return nil }
        return withExtendedLifetime(fields) { builder.take() }
    }

    /// Copies all fields except those that describe a part.
    private static func copy(_ fields: ResponseFields, to builder: inout ResponseFieldsBuilder) -> Bool {
        fields.all.filter { !ofPart.contains(FieldText.lowered($0.name)) }
            .allSatisfy { builder.append($0.name, $0.value) }
    }

    private static let ofPart: Set<String> = ["content-length", "content-range"]
}
