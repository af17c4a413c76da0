package import SDDBase

/// An entity tag (RFC 9110 §8.8.3) exactly as the server sent it. A tag that lacks its quotes is sent back without
/// them. A value type.
package struct EntityTag: Equatable, Sendable {
    let bytes: [UInt8]

    /// Reads the ETag field; returns nil if there is none, or it is empty.
    package init?(of fields: ResponseFields) {
        guard let bytes = fields.bytes(of: "ETag"), !bytes.isEmpty else { return nil }
        self.bytes = bytes
    }

    package var isWeak: Bool { bytes.starts(with: Self.weakness) }

    /// The tag as text for a request; nil if it is not UTF-8, since request fields are texts.
    package var text: String? { String(validating: bytes, as: UTF8.self) }

    /// Compares strongly (RFC 9110 §8.8.3.2).
    package func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && bytes == other.bytes }

    package func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }

    private var opaque: ArraySlice<UInt8> { isWeak ? bytes.dropFirst(Self.weakness.count) : bytes[...] }

    private static let weakness = Array("W/".utf8)
}

extension CacheRules {
    /// Returns the conditional fields that validate a stored response (RFC 9111 §4.3.1), with both validators if it has
    /// both. Empty if its entity tag cannot be sent, since the other validator must not be sent without it.
    package static func conditions(of stored: StoredResponse) -> HTTPFields {
        var conditions = HTTPFields()
        if let tag = EntityTag(of: stored.fields) {
            guard let text = tag.text else { return conditions }
            conditions.set("If-None-Match", to: text)
        }
        if let modified = stored.fields["Last-Modified"],
            HTTPDate.parse(modified.utf8, now: stored.responseTime) != nil
        {
            conditions.set("If-Modified-Since", to: modified)
        }
        return conditions
    }

    /// Whether a 304 refers to this response (RFC 9111 §4.3.4). A 304 without any validator does, since only this
    /// response was validated.
    static func isNamed(_ stored: StoredResponse, by notModified: ResponseFields, at time: Int64) -> Bool {
        if let new = EntityTag(of: notModified) {
            guard let old = EntityTag(of: stored.fields) else { return false }
            return new.isWeak ? new.matchesWeakly(old) : new.matchesStrongly(old)
        }
        guard let new = notModified.bytes(of: "Last-Modified") else { return true }
        guard let old = stored.fields.bytes(of: "Last-Modified") else { return false }
        guard let newTime = HTTPDate.parse(new, now: time), let oldTime = HTTPDate.parse(old, now: time) else {
            return new == old
        }
        return newTime == oldTime
    }
}
