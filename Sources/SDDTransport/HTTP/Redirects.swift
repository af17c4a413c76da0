internal import CCurl
internal import SDDBase

/// Follows a chain of redirects hop by hop: finds the next request, or the error that ends the chain. It does not
/// access the network, and uses no easy handle.
struct Redirects {
    private let limit: Int32
    private let allowsDowngrade: Bool
    /// Number of hops so far.
    private(set) var count: Int32 = 0

    init(limit: Int32, allowsDowngrade: Bool) {
        self.limit = limit
        self.allowsDowngrade = allowsDowngrade
    }

    /// Whether the status is a redirect that is followed automatically: RFC 9110 §15.4.
    static func isRedirect(_ status: Int32) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Returns the target of a redirect for a message, without user, password, query and fragment.
    /// - Parameter url: The URL of the hop.
    static func shown(_ location: String, from url: String) -> String {
        guard let to = URLParts(url), to.follow(location) else { return "a URL that is malformed" }
        for part in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY, CURLUPART_FRAGMENT] { to[part] = nil }
        guard let text = to.url else { return "a URL that is malformed" }
        if text.utf8.count <= longestShown { return text }
        return String(decoding: text.utf8.prefix(longestShown), as: UTF8.self) + "..."
    }

    private static let longestShown = 1024

    /// Returns the request of the next hop.
    /// - Parameters:
    ///   - location: The value of the Location field.
    ///   - request: The request of the previous hop, from which everything is inherited: anything dropped once stays
    ///     dropped.
    mutating func follow(_ location: String, status: Int32, from request: HTTPRequest) throws(TransportError)
        -> HTTPRequest
    {
        let host = URLText.host(request.url.text)
        guard count < limit else { throw .tooManyRedirects(limit, host: host) }
        count += 1
        guard URLReference.namesAllowedScheme(location) else { throw .redirectScheme(host: host) }
        guard let from = URLParts(request.url.text), let to = URLParts(request.url.text), to.follow(location) else {
            throw .redirectMalformed(host: host)
        }
        let staysAtOrigin = from.origin == to.origin
        Self.carryUserinfo(from, to, staysAtOrigin: staysAtOrigin)
        // RFC 9110 §10.2.2: the fragment is inherited.
        if to[CURLUPART_FRAGMENT] == nil, let fragment = from[CURLUPART_FRAGMENT] { to[CURLUPART_FRAGMENT] = fragment }

        var next = request
        next.url = try Self.checked(to.url, host: host)
        next.addConditions()
        if request.url.scheme == .https && next.url.scheme == .http {
            guard allowsDowngrade else { throw .redirectDowngrade(host: host) }
            next.headers.set("Referer", to: nil)
        }
        Self.changeMethod(of: &next, status: status)
        if !staysAtOrigin { Self.dropSecrets(of: &next) }
        return next
    }
}

// MARK: - The steps

extension Redirects {
    private static func checked(_ url: String?, host: String) throws(TransportError) -> ImageURL {
        guard let url else { throw .redirectMalformed(host: host) }
        do throws(ImageURL.Flaw) {
            return try Array(url.utf8).withUnsafeBufferPointer { (bytes) throws(ImageURL.Flaw) in
                try ImageURL(checkingAnyHost: bytes, allowsFiles: false)
            }
        } catch {
            throw error == .scheme ? .redirectScheme(host: host) : .redirectMalformed(host: host)
        }
    }

    /// Keeps the URL's user and password at the same origin, even if the Location omits them, and removes them at any
    /// other origin, even if the Location has some.
    private static func carryUserinfo(_ from: URLParts, _ to: URLParts, staysAtOrigin: Bool) {
        if !staysAtOrigin {
            to[CURLUPART_USER] = nil
            to[CURLUPART_PASSWORD] = nil
        } else if to[CURLUPART_USER] == nil, let user = from[CURLUPART_USER] {
            to[CURLUPART_USER] = user
            to[CURLUPART_PASSWORD] = from[CURLUPART_PASSWORD]
        }
    }

    /// Changes the method as clients commonly do: RFC 9110 §15.4.2 to §15.4.4.
    private static func changeMethod(of request: inout HTTPRequest, status: Int32) {
        let becomesGET =
            switch status {
            case 301, 302: request.method == "POST"
            case 303: request.method != "GET" && request.method != "HEAD"
            default: false
            }
        guard becomesGET else { return }
        request.method = "GET"
        request.body = nil
        for field in request.headers.fields where field.name.lowercased().hasPrefix("content-") {
            request.headers.set(field.name, to: nil)
        }
    }

    private static func dropSecrets(of request: inout HTTPRequest) {
        for name in ["Authorization", "Cookie", "Proxy-Authorization", "Host"] { request.headers.set(name, to: nil) }
        guard request.options.values.credential != nil else { return }
        var values = request.options.values
        values.credential = nil
        request.options = TransferOptions(values)
    }
}
