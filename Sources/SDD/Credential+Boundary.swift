internal import CSDD
internal import SDDTransport

/// What a caller says of credentials.
enum GivenCredential {
    /// NULL: as the downloader has it.
    case unsaid
    case none
    case some(Credential)

    var credential: Credential? { if case .some(let credential) = self { credential } else { nil } }
}

func credential(_ source: UnsafePointer<sdd_credential>?) throws(Refusal) -> GivenCredential {
    guard let source else { return .unsaid }
    var given = sdd_credential()
    try read(source, into: &given)
    var made = Credential()
    made.username = try part(given.username)
    made.password = try part(given.password)
    made.bearerToken = try part(given.bearer_token)
    made.clientCertificate = try path(given.client_certificate)
    made.clientKey = try path(given.client_key)
    made.clientKeyPassword = try part(given.client_key_password)
    let all = Credential.Schemes.all.rawValue
    guard given.schemes & ~all == 0 else { throw Refusal(SDD_ERROR_UNSUPPORTED) }
    if given.schemes != 0 { made.schemes = Credential.Schemes(rawValue: given.schemes) }
    if made == Credential() { return .none }
    guard isWhole(made) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    return .some(made)
}

/// No part without the one it belongs to, and no two ways at once.
private func isWhole(_ credential: Credential) -> Bool {
    guard (credential.username == nil) == (credential.password == nil) else { return false }
    guard credential.bearerToken == nil || credential.username == nil else { return false }
    // RFC 7617 §2: the first colon ends the user's name.
    if let name = credential.username, name.utf8.contains(UInt8(ascii: ":")) { return false }
    guard
        credential.clientCertificate != nil
            || (credential.clientKey == nil && credential.clientKeyPassword == nil)
    else { return false }
    return true
}

/// Text without control characters, which would end up in a header.
private func part(_ string: UnsafePointer<CChar>?) throws(Refusal) -> String? {
    guard let string else { return nil }
    guard let text = headerValue(string) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    return text
}
