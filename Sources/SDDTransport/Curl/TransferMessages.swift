internal import SDDBase

/// The log messages about transfers. None contains a password or token: URLs are shown without user and password, and
/// without their query.
enum TransferMessages {
    static func start(_ request: HTTPRequest) -> String { "\(request.method) \(url(request)) begins." }

    static func unverified(_ request: HTTPRequest) -> String {
        "The certificate of \(URLText.host(request.url.text)) is not verified, as the request wants it."
    }

    static func redirect(to request: HTTPRequest) -> String { "A redirect leads to \(url(request))." }

    static let startsOver = "The server does not bring the rest of the same body; all of it is asked for."

    static let leavesPacked = "The body has a coding that is not known here; it is asked for again, and left as it is."

    static let isChallenged = "The host asks for the password in another way than before; the request is sent again."

    static let leavesHTTP3 = "The host does not answer by HTTP/3; the request starts over by TCP."

    static let isUnanswered = "The connection was closed without an answer; the request is sent over a new one."

    static let hasForeignInput =
        "The connection has bytes that answer no request; the request is sent over a new one."

    static let asksAgain = "The host did not look at the request; it is sent again over another connection."

    static func success(_ end: TransferEnd, bytes: Int) -> String {
        let milliseconds = end.timings.total / 1000
        return "Ended with status \(end.response?.status ?? 0) and \(bytes) bytes after \(milliseconds) ms."
    }

    static func failure(_ error: TransportError) -> String { "Failed: \(error.message)" }

    static let cancelled = "Ended: no request waits for it any more."

    private static func url(_ request: HTTPRequest) -> String {
        let text = URLText.withoutCredentials(request.url.text).utf8
        return String(decoding: text.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }, as: UTF8.self)
    }
}
