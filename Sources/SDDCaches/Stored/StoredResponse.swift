package import SDDBase

/// A request field by which a server selected one of several responses: RFC 9111 §4.1. A value type.
package struct SelectingField: Equatable, Sendable {
    /// The name in lower case.
    package let name: String
    /// The mark of the value that was sent, normalized; nil if the field was not sent.
    package let value: String?

    package static func == (a: SelectingField, b: SelectingField) -> Bool {
        // Compared by bytes: Swift treats canonically equivalent Unicode texts as equal.
        guard a.name.utf8.elementsEqual(b.name.utf8) else { return false }
        guard let a = a.value, let b = b.value else { return a.value == nil && b.value == nil }
        return a.utf8.elementsEqual(b.utf8)
    }
}

/// The part of a response that is stored beside its body, to decide when and for which requests it may be reused. A
/// value type, safe on any thread; stored with an entry as bytes (`encoded()`).
package struct StoredResponse: Sendable {
    package var status: Int32
    /// The URL that answered.
    package var url: String
    package var fields: ResponseFields
    /// The times at which the request was sent and the response was received, in seconds since 1970. After a
    /// validation, those of the last validation.
    package var requestTime: Int64
    package var responseTime: Int64
    /// The selecting fields, one for each name in Vary, sorted by name.
    package var selecting: [SelectingField]
    /// An id shared by the variants of one URL that are valid together. A variant whose id differs from that of the
    /// URL's own entry was stored before that entry was replaced or invalidated, and is a miss.
    package var family: UInt64

    package init(
        status: Int32, url: String, fields: ResponseFields, requestTime: Int64, responseTime: Int64,
        selecting: [SelectingField] = [], family: UInt64 = 0
    ) {
        self.status = status
        self.url = url
        self.fields = fields
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.selecting = selecting
        self.family = family
    }

    package var cacheControl: CacheControl { CacheControl(fields) }

    package func isVariant(of primary: StoredResponse) -> Bool { family == primary.family }
}
