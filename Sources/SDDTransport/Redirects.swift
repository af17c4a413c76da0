internal import CCurl
internal import SDDBase

/// A chain of redirects, hop by hop: what the next request is, or why there is none. Knows no network and no
/// handle of libcurl's. A value.
struct Redirects {
    private let limit: Int32
    private let allowsDowngrade: Bool
    /// Hops so far.
    private(set) var count: Int32 = 0

    init(limit: Int32, allowsDowngrade: Bool) {
        self.limit = limit
        self.allowsDowngrade = allowsDowngrade
    }

    /// RFC 9110 §15.4: those whose Location is followed without asking anybody.
    static func isRedirect(_ status: Int32) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Where a redirect leads, for a message: without user and password.
    /// - Parameter url: of the hop.
    static func shown(_ location: String, from url: String) -> String {
        guard let to = URLParts(url), to.follow(location) else { return "a URL that is malformed" }
        to[CURLUPART_USER] = nil
        to[CURLUPART_PASSWORD] = nil
        guard let text = to.url else { return "a URL that is malformed" }
        if text.utf8.count <= longestShown { return text }
        return String(decoding: text.utf8.prefix(longestShown), as: UTF8.self) + "..."
    }

    private static let longestShown = 1024

    /// - Parameters:
    ///   - request: that of the hop before, from which all is inherited: what is dropped once stays dropped.
    ///   - location: the value of the Location field.
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
        // RFC 9110 §10.2.2: a fragment is inherited.
        if to[CURLUPART_FRAGMENT] == nil, let fragment = from[CURLUPART_FRAGMENT] { to[CURLUPART_FRAGMENT] = fragment }

        var next = request
        next.url = try Self.checked(to.url, host: host)
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
                try ImageURL(checking: bytes, allowsFiles: false)
            }
        } catch {
            throw error == .scheme ? .redirectScheme(host: host) : .redirectMalformed(host: host)
        }
    }

    /// User and password of the URL go on to the same origin, also where the Location leaves them out, and to no
    /// other, also where it names some.
    private static func carryUserinfo(_ from: URLParts, _ to: URLParts, staysAtOrigin: Bool) {
        if !staysAtOrigin {
            to[CURLUPART_USER] = nil
            to[CURLUPART_PASSWORD] = nil
        } else if to[CURLUPART_USER] == nil, let user = from[CURLUPART_USER] {
            to[CURLUPART_USER] = user
            to[CURLUPART_PASSWORD] = from[CURLUPART_PASSWORD]
        }
    }

    /// RFC 9110 §15.4.2 to §15.4.4, as everybody does it.
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
