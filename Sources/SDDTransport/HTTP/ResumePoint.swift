package import SDDBase

/// The received part of an interrupted body, and the data that a request for the rest needs. Immutable.
package struct ResumePoint: Sendable {
    /// The beginning of the body.
    package let bytes: Bytes
    /// The validator of the response that carried these bytes.
    package let validator: Validator
    /// The URL that sent these bytes; `nil` means any. If a redirect has changed and leads to another URL, a response
    /// from there is something else, even with the same validator.
    package let url: String?
    /// The size of the whole body, if it was announced.
    package let total: Int64?
    /// The header fields of that response, as far as they were kept. A 206 need not repeat them.
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
    /// The validator to keep with a part of this response's body; `nil` if the body cannot be resumed: RFC 9110 §14.3
    /// and §15.3.7.
    package var resumeValidator: Validator? {
        // A decompressed body has other offsets than those that the server counts.
        guard status == 200, fields["Content-Encoding"] == nil else { return nil }
        guard fields["Accept-Ranges"]?.lowercased() != "none" else { return nil }
        return Validator.strong(of: fields)
    }
}

extension HTTPRequest {
    /// Drops a resume point that is useless, or that conflicts with the request's own header fields.
    mutating func dropUselessResumePoint() {
        guard let resume else { return }
        let isPlain = asksForWhole && body == nil && appTransport == nil && url.scheme.isHTTP
        let hasRest = resume.count > 0 && resume.count < resume.total ?? .max
        if !isPlain || !hasRest { self.resume = nil }
    }
}
