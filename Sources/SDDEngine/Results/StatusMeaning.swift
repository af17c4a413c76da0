/// Explanations of HTTP statuses that are not accepted, with advice on the next step. Pure.
enum StatusMeaning {
    /// Returns the end of a sentence that has named the status; advice when to try again may follow it. RFC 9110 §15,
    /// RFC 6585.
    static func words(_ status: Int32) -> String {
        switch status {
        case 100...399: "it is not among the statuses that are accepted"
        case 400...499: ofRequests[status] ?? "it does not take this request, and will not later"
        case 500...599: ofServers[status] ?? "it failed, through no fault of the request; try again later"
        default: "HTTP knows no such status"
        }
    }

    private static let ofRequests: [Int32: String] = [
        400: "it does not understand the request; check the URL's query and the header fields",
        401: "it wants credentials, or other ones; give a user and password, or a token",
        402: "it requires payment",
        403: "it refuses this request; some servers want a Referer, a cookie or a token in the URL",
        404: "there is nothing under this URL; check its path, or ask who gave it for the new one",
        405: "it does not allow the method here",
        406: "it has nothing that the Accept header field takes",
        407: "the proxy wants a user and password, or others; name them in the proxy's URL",
        408: "it has waited too long for the request; try again",
        410: "what was under this URL is gone for good; do not ask for it again",
        413: "the request's body is too large for it",
        414: "the URL is too long for it",
        416: "the range that was asked for is not a part of what there is",
        421: "it is not the server for this host; check the name, and what it is resolved to",
        425: "it wants to be asked again; try again",
        429: "too many requests come from here; ask less often, with fewer requests at a time, and again later",
        431: "the header fields of the request are too large for it; a cookie may be",
        451: "it may not give this out, for legal reasons",
    ]

    private static let ofServers: [Int32: String] = [
        500: "it failed, through no fault of the request; try again later",
        501: "it does not know the method",
        502: "a server behind it gave no answer that can be used; try again later",
        503: "it is overloaded or being worked on; try again later",
        504: "a server behind it did not answer in time; try again later",
        507: "it has no room left; try again later",
        511: "the network wants a login first, in a browser",
    ]
}
