internal import CSDD
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

/// A request that is being built, and that a request modifier may inspect and change. Used only on the submitting
/// thread.
final class RequestDraft {
    var url: ImageURL
    private(set) var method: String
    var headers: HTTPFields
    private(set) var body: Bytes?
    private let defaults: RequestDefaults
    /// Strings lent to the modifier.
    private var lent: [CText] = []

    init(url: ImageURL, method: String, headers: HTTPFields, body: Bytes?, defaults: RequestDefaults) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.defaults = defaults
    }

    func lend(_ text: String) -> UnsafePointer<CChar>? {
        let text = CText(text)
        lent.append(text)
        return text.pointer
    }

    func setURL(_ text: UnsafePointer<CChar>?) throws(DownloadError) { url = try defaults.url(text) }

    func setMethod(_ method: String) {
        self.method = method
        if !mayHaveBody { body = nil }
    }

    func setBody(_ body: Bytes?) { self.body = body }

    /// Whether the method allows a body. RFC 9110 §9.3.1: the body of a GET or HEAD request has no meaning, and servers
    /// may refuse it.
    var mayHaveBody: Bool { method != "GET" && method != "HEAD" }
}
