internal import SDDBase

/// Whether what a server answers to a request for the rest of a body may be joined with the part that is there, and
/// what the response then looks like: RFC 9110 §15.3.7.3 and RFC 9111 §3.4. Knows no network. A value.
struct RangeJoin {
    enum Verdict: Equatable {
        /// The rest, of a body of so many bytes.
        case joins(total: Int64)
        /// It neither brings the rest nor says anything about the whole: to be asked again, for all of it.
        case startsOver
        /// An answer as to any other request: the whole body, a redirect, an error.
        case standsAlone
    }

    private let point: ResumePoint

    init(_ point: ResumePoint) { self.point = point }

    /// - Parameter length: the Content-Length, where it counts.
    func judge(status: Int32, _ fields: ResponseFields, length: Int64?) -> Verdict {
        switch status {
        case 206: total(fields, length: length).map { .joins(total: $0) } ?? .startsOver
        // RFC 9110 §15.5.13, §15.5.17: it is the condition, or the range, that does not please.
        case 412, 416: .startsOver
        default: .standsAlone
        }
    }

    /// Of the whole body; nil if this is not its rest, from just behind the part to the end.
    private func total(_ fields: ResponseFields, length: Int64?) -> Int64? {
        // §15.3.7.2: several ranges have theirs within the body.
        guard fields.mimeType != "multipart/byteranges", fields["Content-Encoding"] == nil,
            let range = Self.range(fields)
        else { return nil }
        guard range.first == point.count, let total = range.total ?? point.total, total == point.total ?? total,
            range.last == total - 1
        else { return nil }
        guard length ?? (total - range.first) == total - range.first else { return nil }
        return point.validator.agrees(with: fields) ? total : nil
    }

    /// nil also where there are several, which need not agree.
    private static func range(_ fields: ResponseFields) -> ContentRange? {
        let texts = fields.values(of: "Content-Range")
        return texts.count == 1 ? ContentRange(texts[0]) : nil
    }

    /// What the 206 stands for: the 200 that would have brought the whole body.
    /// - Returns: nil when there is no memory.
    func joined(_ part: Response, total: Int64) -> Response? {
        var builder = ResponseFieldsBuilder()
        guard copy(part.fields, to: &builder), restore(missingIn: part.fields, to: &builder),
            builder.append("Content-Length", String(total))
        else { return nil }
        return Response(
            status: 200, httpVersion: part.httpVersion, url: part.url, fields: builder.take(),
            isOfUnknownCaller: part.isOfUnknownCaller)
    }

    /// All but what speaks of the part.
    private func copy(_ fields: ResponseFields, to builder: inout ResponseFieldsBuilder) -> Bool {
        withExtendedLifetime(fields) {
            fields.all
                .filter { !Self.ofPart.contains(String(cString: $0.name).lowercased()) }
                .allSatisfy { builder.append($0.name, $0.value) }
        }
    }

    private static let ofPart: Set<String> = ["content-range", "content-length", "transfer-encoding"]

    /// RFC 9110 §15.3.7: with If-Range the server is not to repeat what describes the body.
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
