package import SDDBase

/// The caller's credential, only for the host, port and scheme of the request's URL.
package struct Credential: Hashable, Sendable {
    package struct Schemes: OptionSet, Hashable, Sendable {
        package let rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }
        package static let basic = Schemes(rawValue: 1)
        package static let digest = Schemes(rawValue: 2)
        package static let negotiate = Schemes(rawValue: 4)
        package static let ntlm = Schemes(rawValue: 8)
        package static let all: Schemes = [.basic, .digest, .negotiate, .ntlm]
    }

    /// The user name and password are sent only when the server has asked for them, once, and at once where it has
    /// accepted them before; see `ProtectionSpaces`.
    @ExactText package var username: String?
    @ExactText package var password: String?
    package var schemes = Schemes.all
    /// The token is sent at once.
    @ExactText package var bearerToken: String?
    /// Paths of PEM files with the client's certificate and its key.
    @ExactText package var clientCertificate: String?
    @ExactText package var clientKey: String?
    @ExactText package var clientKeyPassword: String?

    package init() {}
}
