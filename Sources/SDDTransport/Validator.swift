package import SDDBase

/// What tells one state of a resource from any other, byte for byte: a strong validator of RFC 9110 §8.8.1. Without
/// one a part of a body may not be joined with a later rest. Kept beside such a part as the bytes of its text. A value.
package enum Validator: Hashable, Sendable {
    /// With its quotes.
    case entityTag(String)
    /// As the server wrote it.
    case lastModified(String)

    /// That of a response; nil if it has none that is strong.
    package static func strong(of fields: ResponseFields) -> Validator? {
        // RFC 9110 §13.1.5: beside an entity tag, be it a weak one, a date is not to be used.
        let tags = fields.values(of: "ETag")
        if let tag = tags.first { return tags.count == 1 && isStrongTag(tag) ? .entityTag(tag) : nil }
        guard let modified = fields["Last-Modified"], let date = fields["Date"], isLate(date, after: modified, fields)
        else { return nil }
        return .lastModified(modified)
    }

    /// RFC 9110 §8.8.2.2: strong is a date that lies before the response by a second, if one clock has given both,
    /// or by so much that two clocks do not matter.
    private static func isLate(_ date: String, after modified: String, _ fields: ResponseFields) -> Bool {
        guard let date = seconds(date), let modified = seconds(modified) else { return false }
        let hasPassedOthers = fields["Age"] != nil || fields["Via"] != nil
        return date - modified >= (hasPassedOthers ? 60 : 1)
    }

    /// As a field of a request has it, and as it is kept.
    package var text: String {
        switch self {
        case .entityTag(let text), .lastModified(let text): text
        }
    }

    package var encoded: [UInt8] { Array(text.utf8) }

    /// - Parameter bytes: from `encoded`, or from anywhere.
    /// - Returns: nil for what `encoded` cannot have given.
    package init?(decoding bytes: UnsafeRawBufferPointer) {
        let text = String(decoding: bytes, as: UTF8.self)
        if Self.isStrongTag(text) {
            self = .entityTag(text)
        } else if Self.seconds(text) != nil {
            self = .lastModified(text)
        } else {
            return nil
        }
    }

    /// Whether a response that says this of itself is of the same state: RFC 9110 §8.8.3.2, the strong comparison.
    /// What it does not say does not speak against it.
    func agrees(with fields: ResponseFields) -> Bool {
        switch self {
        case .entityTag(let tag): fields.values(of: "ETag").allSatisfy { $0.utf8.elementsEqual(tag.utf8) }
        case .lastModified(let date):
            fields.values(of: "Last-Modified").allSatisfy { $0.utf8.elementsEqual(date.utf8) }
        }
    }
}

// MARK: - Reading

extension Validator {
    /// RFC 9110 §8.8.3, but for bytes over 0x7f, of which a text would not keep apart all.
    private static func isStrongTag(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != quote }
    }

    private static var quote: UInt8 { UInt8(ascii: "\"") }

    /// Since 1970; nil for what is no date in the form that is to be sent (RFC 9110 §5.6.7).
    private static func seconds(_ date: String) -> Int64? {
        guard let seconds = HTTPDate.parse(date.utf8, now: 0), HTTPDate.text(seconds) == date else { return nil }
        return seconds
    }
}
