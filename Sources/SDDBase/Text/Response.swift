/// A response: status, URL and header fields. Immutable, shared by reference.
package final class Response: Sendable {
    /// The HTTP status; 0 if the scheme has none.
    package let status: Int32
    /// The HTTP version as 10, 11, 20 or 30; 0 if unknown.
    package let httpVersion: Int32
    /// The URL that sent this response: the last one of a chain of redirects.
    package let url: String
    package let fields: ResponseFields
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
        isOfUnknownCaller = response.isOfUnknownCaller
        unchanged = response
    }

    package init(
        status: Int32, httpVersion: Int32 = 0, url: String = "", fields: ResponseFields = ResponseFields(),
        isOfUnknownCaller: Bool = false
    ) {
        self.isOfUnknownCaller = isOfUnknownCaller
        self.status = status
        self.httpVersion = httpVersion
        self.url = url
        self.fields = fields
        unchanged = nil
    }

    /// The URL for C, created on first use. Valid while the response lives; nil when there is no memory.
    package var urlText: UnsafePointer<CChar>? {
        let text = cURL.load() ?? cURL.storeIfNil(CText(url))
        return text.pointer
    }

    private let cURL = OnceReference<CText>()
}
