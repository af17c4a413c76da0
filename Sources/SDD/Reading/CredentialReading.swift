internal import CSDD
internal import SDDTransport

/// A credential as the application passed it.
enum AppCredential {
    /// NULL: the downloader's default applies.
    case unsaid
    case none
    case some(Credential)

    var credential: Credential? { if case .some(let credential) = self { credential } else { nil } }
}

func credential(_ source: UnsafePointer<sdd_credential>?, _ place: Place) throws(Refusal) -> AppCredential {
    guard let source else { return .unsaid }
    let given = try read(source, place)
    var made = Credential()
    made.username = try part(given.username, "sdd_credential.username")
    made.password = try part(given.password, "sdd_credential.password")
    made.bearerToken = try part(given.bearer_token, "sdd_credential.bearer_token")
    made.clientCertificate = try path(given.client_certificate, "sdd_credential.client_certificate")
    made.clientKey = try path(given.client_key, "sdd_credential.client_key")
    made.clientKeyPassword = try part(given.client_key_password, "sdd_credential.client_key_password")
    let all = Credential.Schemes.all.rawValue
    guard given.schemes & ~all == 0 else {
        throw Refusal(
            SDD_ERROR_UNSUPPORTED, "sdd_credential.schemes",
            "0x\(String(given.schemes, radix: 16)) has bits that are none of SDD_AUTH_")
    }
    if given.schemes != 0 { made.schemes = Credential.Schemes(rawValue: given.schemes) }
    if made == Credential() { return .none }
    try checkWhole(made)
    return .some(made)
}

/// Refuses incomplete credentials, and two authentication methods at once.
private func checkWhole(_ credential: Credential) throws(Refusal) {
    func wrong(_ place: Place, _ reason: String) -> Refusal { Refusal(SDD_ERROR_INVALID_ARGUMENT, place, reason) }
    guard (credential.username == nil) == (credential.password == nil) else {
        throw credential.username == nil
            ? wrong("sdd_credential.username", "NULL is not allowed with a password")
            : wrong("sdd_credential.password", "NULL is not allowed with a username: an empty one is \"\"")
    }
    guard credential.bearerToken == nil || credential.username == nil else {
        throw wrong("sdd_credential.bearer_token", "it must be NULL where there is a username")
    }
    // RFC 7617 §2: the first colon ends the user name.
    if let name = credential.username, name.utf8.contains(UInt8(ascii: ":")) {
        throw wrong("sdd_credential.username", "it must not have a \":\" in it")
    }
    guard credential.clientCertificate != nil || credential.clientKey == nil else {
        throw wrong("sdd_credential.client_key", "it must be NULL without a client_certificate")
    }
    guard credential.clientCertificate != nil || credential.clientKeyPassword == nil else {
        throw wrong("sdd_credential.client_key_password", "it must be NULL without a client_certificate")
    }
}

/// Reads text without control characters, since it may end up in a header. Error messages do not show it.
private func part(_ string: UnsafePointer<CChar>?, _ place: Place) throws(Refusal) -> String? {
    guard let string else { return nil }
    guard let text = headerValue(string) else { throw noFieldValue(place) }
    return text
}
