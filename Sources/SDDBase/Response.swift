/// One response: status, URL, header fields. Immutable, shared by reference.
package final class Response: Sendable {
    /// HTTP status; 0 when the scheme has none.
    package let status: Int32
    /// 10, 11, 20, 30; 0 when unknown.
    package let httpVersion: Int32
    /// That which answered: the last one of a chain of redirects.
    package let url: String
    package let fields: ResponseFields
    /// Cookies were sent for it that its request did not know of when it was made: nobody can say to whom else it may be
    /// shown.
    package let isOfUnknownCaller: Bool
    /// As the server gave it, where the application has changed header fields: what caches go by.
    private let unchanged: Response?
    package var asGiven: Response { unchanged ?? self }

    /// The same with other header fields.
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

    /// The URL for C, made when it is first asked for. Good while the response lives; nil without memory.
    package var urlText: UnsafePointer<CChar>? {
        let text = cURL.load() ?? cURL.storeIfNil(CText(url))
        return text.pointer
    }

    private let cURL = OnceReference<CText>()
}
