package import SDDBase

/// A strong validator (RFC 9110 §8.8.1), which distinguishes one state of a resource from any other, byte for byte.
/// Without one, a part of a body must not be joined with a later rest. Stored with such a part as the bytes of its
/// text.
package enum Validator: Hashable, Sendable {
    /// The entity tag, with its quotes.
    case entityTag(String)
    /// The date, as the server wrote it.
    case lastModified(String)

    /// Returns the strong validator of a response; `nil` if there is none.
    package static func strong(of fields: ResponseFields) -> Validator? {
        // RFC 9110 §13.1.5: a date must not be used if there is an entity tag, even a weak one.
        let tags = fields.values(of: "ETag")
        if let tag = tags.first { return tags.count == 1 && isStrongTag(tag) ? .entityTag(tag) : nil }
        guard let modified = fields["Last-Modified"], let date = fields["Date"], isLate(date, after: modified, fields)
        else { return nil }
        return .lastModified(modified)
    }

    /// Whether the modification date is strong: RFC 9110 §8.8.2.2. It must lie a second before the response if one
    /// clock gave both dates, otherwise far enough before it that the difference between two clocks does not matter.
    private static func isLate(_ date: String, after modified: String, _ fields: ResponseFields) -> Bool {
        guard let date = seconds(date), let modified = seconds(modified) else { return false }
        let hasPassedOthers = fields["Age"] != nil || fields["Via"] != nil
        return date - modified >= (hasPassedOthers ? 60 : 1)
    }

    /// The text for a request's header field, which is also the stored form.
    package var text: String {
        switch self {
        case .entityTag(let text), .lastModified(let text): text
        }
    }

    package var encoded: [UInt8] { Array(text.utf8) }

    /// - Parameter bytes: The bytes of `encoded`, or bytes from any other source.
    /// - Returns: `nil` if `encoded` cannot have returned these bytes.
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

    /// Whether the fields of a response agree with this validator, by the strong comparison of RFC 9110 §8.8.3.2. A
    /// response without the field agrees.
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
    /// Whether the text is a strong entity tag: RFC 9110 §8.8.3. Bytes over 0x7f are not accepted, because a text would
    /// not keep all of them apart.
    private static func isStrongTag(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != quote }
    }

    private static var quote: UInt8 { UInt8(ascii: "\"") }

    /// Returns the seconds since 1970; `nil` if the text is not a date in the form that must be sent (RFC 9110 §5.6.7).
    private static func seconds(_ date: String) -> Int64? {
        guard let seconds = HTTPDate.parse(date.utf8, now: 0), HTTPDate.text(seconds) == date else { return nil }
        return seconds
    }
}
