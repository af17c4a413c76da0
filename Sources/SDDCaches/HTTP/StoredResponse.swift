package import SDDBase

/// A request field by which a server chose among several responses: RFC 9111 §4.1. A value.
package struct SelectingField: Equatable, Sendable {
    /// In lower case.
    package let name: String
    /// The mark of what was sent, without needless white space; nil when it was not sent.
    package let value: String?

    package static func == (a: SelectingField, b: SelectingField) -> Bool {
        // By bytes: to Swift texts are equal when Unicode holds them for the same.
        guard a.name.utf8.elementsEqual(b.name.utf8) else { return false }
        guard let a = a.value, let b = b.value else { return a.value == nil && b.value == nil }
        return a.utf8.elementsEqual(b.utf8)
    }
}

/// What is kept of a response beside its body, to say when and for whom it may be used again. A value, which any thread
/// may hold; whoever keeps entries keeps it with them as bytes (`encoded()`).
package struct StoredResponse: Sendable {
    package var status: Int32
    /// That which answered.
    package var url: String
    package var fields: ResponseFields
    /// Seconds since 1970, when the request went out and when its response came. Of the last validation, if there was
    /// one.
    package var requestTime: Int64
    package var responseTime: Int64
    /// Of each name in Vary, sorted by it.
    package var selecting: [SelectingField]
    /// The same for the variants of one URL that are good together: one whose number differs from that of the URL's
    /// own entry is left over from before that was replaced or invalidated, and is a miss.
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
