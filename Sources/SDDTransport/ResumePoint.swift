package import SDDBase

/// What there is of a body that has broken off, and what a request needs to get the rest of it. Immutable.
package struct ResumePoint: Sendable {
    /// The body's beginning.
    package let bytes: Bytes
    /// That of the response which these bytes came with.
    package let validator: Validator
    /// That which had answered: what another URL, behind a redirect that has changed, says of itself with the same
    /// validator is something else. nil: any.
    package let url: String?
    /// Of the whole body, if that was announced.
    package let total: Int64?
    /// Those of that response, as far as they were kept: a 206 need not say them again.
    package let fields: ResponseFields

    package init(
        bytes: Bytes, validator: Validator, url: String? = nil, total: Int64? = nil,
        fields: ResponseFields = ResponseFields()
    ) {
        self.bytes = bytes
        self.validator = validator
        self.url = url
        self.total = total.flatMap { $0 > 0 ? $0 : nil }
        self.fields = fields
    }

    var count: Int64 { Int64(bytes.count) }
}

extension Response {
    /// What a part of this response's body would have to be kept with; nil if it could not be resumed: RFC 9110
    /// §14.3 and §15.3.7.
    package var resumeValidator: Validator? {
        // What was unpacked has other offsets than what the server counts.
        guard status == 200, fields["Content-Encoding"] == nil else { return nil }
        guard fields["Accept-Ranges"]?.lowercased() != "none" else { return nil }
        return Validator.strong(of: fields)
    }
}

extension HTTPRequest {
    /// Forgets a resume point that is of no use, or that would get into the way of what the caller asks for.
    mutating func dropUselessResumePoint() {
        guard let resume else { return }
        let isPlain = method == "GET" && body == nil && plugin == nil && (url.scheme == .http || url.scheme == .https)
        let hasRest = resume.count > 0 && resume.count < resume.total ?? .max
        let hasConditions = Self.conditions.contains { headers[$0] != nil }
        if !isPlain || !hasRest || hasConditions { self.resume = nil }
    }

    /// RFC 9110 §13.1 and §14.2.
    private static let conditions = [
        "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
    ]
}
