internal import CCurl
internal import SDDBase

/// Sets the caller's credential on a handle. A bearer token is sent as a header field; see `HeaderList`.
extension CurlOptions {
    /// - Parameter isAuthorized: True if the request has its Authorization field already. libcurl then does not answer
    ///   a challenge.
    static func setCredential(
        _ credential: Credential, isAuthorized: Bool, _ keys: ClientKeys, _ easy: EasyHandle
    ) throws(EasyHandle.Refusal) {
        if let username = credential.username, !isAuthorized { try setPassword(username, credential, easy) }
        guard let certificate = credential.clientCertificate else { return }
        try easy.set(CURLOPT_SSLCERT, certificate)
        if let key = credential.clientKey { try easy.set(CURLOPT_SSLKEY, key) }
        // Without a password OpenSSL would ask for one on the process's terminal.
        try easy.set(CURLOPT_KEYPASSWD, credential.clientKeyPassword ?? "")
        if !keys.areUsual(credential) {
            try easy.set(CURLOPT_FRESH_CONNECT, true)
            try easy.set(CURLOPT_FORBID_REUSE, true)
            // A TLS session would stand for the client key that it began with.
            try easy.set(CURLOPT_SSL_SESSIONID_CACHE, false)
        }
    }

    private static func setPassword(
        _ username: String, _ credential: Credential, _ easy: EasyHandle
    ) throws(EasyHandle.Refusal) {
        let schemes = credential.schemes.ofThisLibrary
        guard !schemes.isEmpty else { throw EasyHandle.Refusal(code: CURLE_NOT_BUILT_IN) }
        var mask = schemes.mask
        // Without the "only" flag libcurl would use a single scheme at once, before the server asks for it.
        if schemes.isSingle { mask |= sddc_auth_only }
        try easy.set(CURLOPT_HTTPAUTH, Int(bitPattern: mask))
        try easy.set(CURLOPT_USERNAME, username)
        try easy.set(CURLOPT_PASSWORD, credential.password ?? "")
    }

    /// Returns the URL for libcurl. If the credential has a user name, it replaces the user and password in the URL.
    static func url(of request: HTTPRequest) -> String {
        guard request.options.values.credential?.username != nil else { return request.url.text }
        return URLText.withoutCredentials(request.url.text)
    }
}

/// The first key and password that came with each client certificate. libcurl 7.88 compares only the certificate when
/// it looks for a connection to reuse, so another key or password, even a wrong one, needs a new connection.
/// thread: sdd-net
final class ClientKeys: Sendable {
    private let known = Monitor<[ExactText<String>: Key]>([:])

    private struct Key: Equatable {
        @ExactText var file: String?
        @ExactText var password: String?
    }

    func areUsual(_ credential: Credential) -> Bool {
        guard let certificate = credential.clientCertificate.map({ ExactText($0) }) else { return true }
        let key = Key(file: credential.clientKey, password: credential.clientKeyPassword)
        return known.withLock { known in
            let usual = known[certificate] ?? key
            known[certificate] = usual
            return usual == key
        }
    }
}

extension Credential.Schemes {
    /// Returns the scheme that libcurl has taken to answer a challenge, if it is one that needs no connection of its
    /// own; empty otherwise. libcurl takes the strongest of those that are offered and allowed.
    func taken(_ easy: EasyHandle) -> Credential.Schemes {
        let offered = UInt(bitPattern: easy.number(CURLINFO_HTTPAUTH_AVAIL)) & ofThisLibrary.mask
        if offered & sddc_auth_negotiate != 0 { return [] }
        if offered & sddc_auth_digest != 0 { return .digest }
        return offered == sddc_auth_basic ? .basic : []
    }

    fileprivate var ofThisLibrary: Credential.Schemes {
        var schemes = intersection(.all)
        if !CurlFeatures.hasNegotiate { schemes.remove(.negotiate) }
        if !CurlFeatures.hasNTLM { schemes.remove(.ntlm) }
        return schemes
    }

    fileprivate var isSingle: Bool { rawValue.nonzeroBitCount == 1 }

    fileprivate var mask: UInt {
        var mask: UInt = 0
        if contains(.basic) { mask |= sddc_auth_basic }
        if contains(.digest) { mask |= sddc_auth_digest }
        if contains(.negotiate) { mask |= sddc_auth_negotiate }
        if contains(.ntlm) { mask |= sddc_auth_ntlm }
        return mask
    }
}
