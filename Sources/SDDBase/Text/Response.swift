/// A response: status, URL and header fields. Immutable, shared by reference.
package final class Response: Sendable {
    /// The HTTP status; 0 if the scheme has none.
    package let status: Int32
    /// The HTTP version as 10, 11, 20 or 30; 0 if unknown.
    package let httpVersion: Int32
    /// The URL that sent this response: the last one of a chain of redirects.
    package let url: String
    package let fields: ResponseFields
    /// The values of Vary in the redirects that led here, which have selected the response as well: RFC 9111 §4.1.
    package let redirectsVary: [String]
    /// True if the request was sent with cookies that were unknown when it was made. The cache then cannot tell which
    /// other callers may see the response.
    package let isOfUnknownCaller: Bool
    /// The response as the server sent it, if the application has changed its header fields. Caches use this one.
    private let unchanged: Response?
    package var asGiven: Response { unchanged ?? self }

    /// Copies a response with other header fields.
    package init(_ response: Response, withFields fields: ResponseFields) {
        status = response.status
        httpVersion = response.httpVersion
        url = response.url
        self.fields = fields
        redirectsVary = response.redirectsVary
        isOfUnknownCaller = response.isOfUnknownCaller
        unchanged = response
    }

    package init(
        status: Int32, httpVersion: Int32 = 0, url: String = "", fields: ResponseFields = ResponseFields(),
        redirectsVary: [String] = [], isOfUnknownCaller: Bool = false
    ) {
        self.redirectsVary = redirectsVary
        self.isOfUnknownCaller = isOfUnknownCaller
        self.status = status
        self.httpVersion = httpVersion
        self.url = url
        self.fields = fields
        unchanged = nil
    }

    /// All values of Vary that have selected the response, from the first hop to the last.
    package var allVary: [String] { redirectsVary + fields.values(of: "Vary") }

    /// The fields by which caches store the response: those that came, with the Vary of the redirects; nil when there is
    /// no memory.
    package var storableFields: ResponseFields? {
        if redirectsVary.isEmpty { return fields }
        var builder = ResponseFieldsBuilder()
        let isCopied = withExtendedLifetime(fields) { fields.all.allSatisfy { builder.append($0.name, $0.value) } }
        guard isCopied, redirectsVary.allSatisfy({ builder.append("Vary", $0) }) else { return nil }
        return builder.take()
    }

    /// The URL for C, created on first use. Valid while the response lives; nil when there is no memory.
    package var urlText: UnsafePointer<CChar>? {
        let text = cURL.load() ?? cURL.storeIfNil(CText(url))
        return text.pointer
    }

    private let cURL = OnceReference<CText>()
}
