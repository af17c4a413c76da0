internal import SDDBase

/// Decides whether a response to a request for the rest of a body may be joined with the existing part, and builds the
/// joined response: RFC 9110 §15.3.7.3 and RFC 9111 §3.4. It does not access the network.
struct RangeJoin {
    enum Verdict: Equatable {
        /// The response carries the rest of a body of `total` bytes.
        case joins(total: Int64)
        /// The response neither carries the rest nor tells anything about the whole, which must be requested again.
        case startsOver
        /// The response is like that to any other request: the whole body, a redirect, an error.
        case standsAlone
    }

    private let point: ResumePoint

    init(_ point: ResumePoint) { self.point = point }

    /// - Parameter length: The Content-Length, unless a Transfer-Encoding overrides it.
    func judge(status: Int32, _ fields: ResponseFields, length: Int64?) -> Verdict {
        switch status {
        case 206: total(fields, length: length).map { .joins(total: $0) } ?? .startsOver
        // RFC 9110 §15.5.13, §15.5.17: the condition or the range was refused.
        case 412, 416: .startsOver
        default: .standsAlone
        }
    }

    /// Returns the size of the whole body; `nil` if the response does not carry the rest from the end of the part to
    /// the end.
    private func total(_ fields: ResponseFields, length: Int64?) -> Int64? {
        guard fields["Content-Encoding"] == nil, let range = ContentRange(of: fields) else { return nil }
        guard range.first == point.count, let total = range.total ?? point.total, total == point.total ?? total,
            range.last == total - 1
        else { return nil }
        guard length ?? (total - range.first) == total - range.first else { return nil }
        return point.validator.agrees(with: fields) ? total : nil
    }

    /// Returns the 200 response that would have carried the whole body.
    /// - Returns: `nil` if there is no memory.
    func joined(_ part: Response, total: Int64) -> Response? {
        var builder = ResponseFieldsBuilder()
        guard copy(part.fields, to: &builder), restore(missingIn: part.fields, to: &builder),
            builder.append("Content-Length", String(total))
        else { return nil }
        return Response(
            status: 200, httpVersion: part.httpVersion, url: part.url, fields: builder.take(),
            redirectsVary: part.redirectsVary, isOfUnknownCaller: part.isOfUnknownCaller)
    }

    /// Copies all fields except those that describe the part.
    private func copy(_ fields: ResponseFields, to builder: inout ResponseFieldsBuilder) -> Bool {
        withExtendedLifetime(fields) {
            fields.all
                .filter { !Self.ofPart.contains(String(cString: $0.name).lowercased()) }
                .allSatisfy { builder.append($0.name, $0.value) }
        }
    }

    private static let ofPart: Set<String> = ["content-range", "content-length", "transfer-encoding"]

    /// Restores the fields that describe the body, which a server omits after If-Range: RFC 9110 §15.3.7.
    private func restore(missingIn fields: ResponseFields, to builder: inout ResponseFieldsBuilder) -> Bool {
        for name in Self.description where fields[name] == nil {
            guard let value = point.fields[name] ?? ofValidator(name) else { continue }
            guard builder.append(name, value) else { return false }
        }
        return true
    }

    private static let description = [
        "Content-Type", "Content-Language", "Content-Disposition", "Last-Modified", "ETag",
    ]

    private func ofValidator(_ name: String) -> String? {
        switch (point.validator, name) {
        case (.entityTag(let tag), "ETag"): tag
        case (.lastModified(let date), "Last-Modified"): date
        default: nil
        }
    }
}
