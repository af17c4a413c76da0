internal import CCurl
internal import SDDBase

/// How libcurl is told who the caller is. A bearer token is a header field, see `HeaderList`.
extension CurlOptions {
    static func setCredential(
        _ credential: Credential, _ keys: ClientKeys, _ easy: EasyHandle
    ) throws(EasyHandle.Refusal) {
        if let username = credential.username { try setPassword(username, credential, easy) }
        guard let certificate = credential.clientCertificate else { return }
        try easy.set(CURLOPT_SSLCERT, certificate)
        if let key = credential.clientKey { try easy.set(CURLOPT_SSLKEY, key) }
        // Without one OpenSSL would ask for it at the host's terminal.
        try easy.set(CURLOPT_KEYPASSWD, credential.clientKeyPassword ?? "")
        if !keys.areUsual(credential) {
            try easy.set(CURLOPT_FRESH_CONNECT, true)
            try easy.set(CURLOPT_FORBID_REUSE, true)
            // A session stands for the key that it began with.
            try easy.set(CURLOPT_SSL_SESSIONID_CACHE, false)
        }
    }

    private static func setPassword(
        _ username: String, _ credential: Credential, _ easy: EasyHandle
    ) throws(EasyHandle.Refusal) {
        let schemes = credential.schemes.ofThisLibrary
        guard !schemes.isEmpty else { throw EasyHandle.Refusal(code: CURLE_NOT_BUILT_IN) }
        var mask = schemes.mask
        // A single one would be used at once, without being asked for, if nobody said "only".
        if schemes.isSingle { mask |= sddc_auth_only }
        try easy.set(CURLOPT_HTTPAUTH, Int(bitPattern: mask))
        try easy.set(CURLOPT_USERNAME, username)
        try easy.set(CURLOPT_PASSWORD, credential.password ?? "")
    }

    /// The URL as libcurl is to have it: a credential takes the place of what stands in the URL.
    static func url(of request: HTTPRequest) -> String {
        guard request.options.values.credential?.username != nil else { return request.url.text }
        return URLText.withoutCredentials(request.url.text)
    }
}

/// Which key and password each client certificate came with first. libcurl 7.88 goes by the certificate alone when
/// it looks for a connection to use again: with another key or password, be it a wrong one, there must be a new one.
/// thread: sdd-net
final class ClientKeys: @unchecked Sendable {
    // Safety: touched on sdd-net alone.
    private var known: [String: Key] = [:]

    private struct Key: Equatable {
        let file: String?
        let password: String?
    }

    func areUsual(_ credential: Credential) -> Bool {
        guard let certificate = credential.clientCertificate else { return true }
        let key = Key(file: credential.clientKey, password: credential.clientKeyPassword)
        let usual = known[certificate] ?? key
        known[certificate] = usual
        return usual == key
    }
}

extension Credential.Schemes {
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
