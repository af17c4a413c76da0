package import SDDBase

/// The identity that a request presents: a stored response to one caller must not be used for another. Two callers are
/// equal if all of these are equal: the header fields that identify the caller, a Host field of its own, the credential,
/// the user and password in the URL, the jar's cookies for the URL's host, the credential of a configured proxy, the
/// rules for trusting the server's certificate, and the accepted responses (redirects, compressed bodies).
package struct RequestIdentity: Hashable, Sendable {
    /// All parts of the identity in one text, secrets included; empty for an anonymous request.
    @ExactText package private(set) var text: String

    package static let nobody = RequestIdentity(text: "")

    package var isAnonymous: Bool { text.isEmpty }

    private init(text: String) { self.text = text }

    package init(of request: HTTPRequest) {
        var text = ""
        for field in request.headers.fields {
            if let name = Self.personalField(field.name) { Self.add(name, field.value, to: &text) }
        }
        if let userinfo = request.url.userinfo { Self.add("url", userinfo, to: &text) }
        let values = request.options.values
        if !values.verifiesCertificate { Self.add("unverified", "", to: &text) }
        if let file = values.caFile { Self.add("ca", file, to: &text) }
        if values.staysPacked { Self.add("packed", "", to: &text) }
        switch values.redirects {
        case .follow: break
        case .handOut: Self.add("redirects", "handed out", to: &text)
        case .refuse: Self.add("redirects", "refused", to: &text)
        }
        if let proxy = values.proxyUserinfo { Self.add("proxy", proxy, to: &text) }
        if let credential = values.credential { Self.add(credential, to: &text) }
        for cookie in request.cookies ?? [] { Self.add("cookie", cookie, to: &text) }
        self.text = text
    }

    /// Returns the name in lower case if the field identifies the caller (RFC 9110 §11.6.2 and §11.7.2, RFC 6265 §4.2), or
    /// another resource than the URL names (RFC 9110 §7.1), otherwise `nil`.
    private static func personalField(_ name: String) -> String? {
        switch name.utf8.count {
        case 4, 6, 13, 19: break
        default: return nil
        }
        let name = name.lowercased()
        return ["host", "cookie", "authorization", "proxy-authorization"].contains(name) ? name : nil
    }

    private static func add(_ credential: Credential, to text: inout String) {
        let parts: KeyValuePairs<String, String?> = [
            "user": credential.username, "password": credential.password, "bearer": credential.bearerToken,
            "certificate": credential.clientCertificate, "key": credential.clientKey,
        ]
        for (name, value) in parts {
            if let value { add(name, value, to: &text) }
        }
    }

    /// Appends the value with its length, so that one value cannot be mistaken for two.
    private static func add(_ name: String, _ value: String, to text: inout String) {
        text += "\(name) \(value.utf8.count) \(value)\n"
    }
}
