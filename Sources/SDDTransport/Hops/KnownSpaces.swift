internal import CCurl
internal import SDDBase

/// The protection spaces that the network threads of a downloader share. Any thread.
final class KnownSpaces: Sendable {
    private let spaces = Monitor(ProtectionSpaces())

    /// Gives the request the Authorization field for its protection space, or takes away that of an earlier hop.
    func authorize(_ request: inout HTTPRequest) {
        guard request.authorization != nil || request.mayBeAuthorized else { return }
        request.authorization = nil
        guard let place = Place(request) else { return }
        request.authorization = spaces.withLock { spaces in
            spaces.authorization(
                place.key, method: request.method, path: place.path, target: place.target,
                clientNonce: Self.clientNonce())
        }
    }

    /// Gives the request the answer to a challenge.
    /// - Returns: `false` if there is none.
    func answer(_ challenge: DigestChallenge, _ request: inout HTTPRequest) -> Bool {
        guard let place = Place(request) else { return false }
        let field = challenge.answer(
            place.key.username, place.key.password, method: request.method, target: place.target, count: 1,
            clientNonce: Self.clientNonce())
        request.authorization = Authorization(field: field, proof: .answer)
        return true
    }

    /// Learns from the response to a request, if the response is not another challenge.
    /// - Parameters:
    ///   - challenges: The challenges that were answered within this hop.
    ///   - scheme: The scheme that libcurl took, if it answered them.
    func learn(
        _ request: HTTPRequest, _ response: Response, answered challenges: [AuthChallenge],
        with scheme: Credential.Schemes
    ) {
        let next = response.fields["Authentication-Info"].flatMap { AuthChallenge.parameters(of: $0)["nextnonce"] }
        guard next != nil || !challenges.isEmpty, let place = Place(request) else { return }
        spaces.withLock { spaces in
            if scheme == .basic, let challenge = challenges.first(where: { $0.scheme == "basic" }) {
                spaces.acceptedBasic(place.key, path: place.path, realm: challenge.parameters["realm"] ?? "")
            } else if scheme == .digest, let challenge = challenges.lazy.compactMap({ DigestChallenge($0) }).first {
                spaces.acceptedDigest(place.key, challenge)
            }
            if let next { spaces.changeNonce(place.key, path: place.path, to: next) }
        }
    }

    func forget(_ request: HTTPRequest) {
        guard let place = Place(request) else { return }
        spaces.withLock { $0.forget(place.key, path: place.path) }
    }

    private static func clientNonce() -> String {
        (0..<2).map { _ in String(UInt64.random(in: 1 << 60...UInt64.max), radix: 16) }.joined()
    }

    /// The caller of a request, and its place at the host, as libcurl sends it.
    private struct Place {
        let key: ProtectionSpaces.Key
        let path: String
        let target: String

        /// - Returns: `nil` if the request has no password, or must be sent as it is.
        init?(_ request: HTTPRequest) {
            guard request.mayBeAuthorized, let credential = request.options.values.credential,
                let username = credential.username, let url = URLParts(request.url.text),
                let path = url[CURLUPART_PATH], let target = url.target(path)
            else { return nil }
            key = ProtectionSpaces.Key(
                origin: url.origin, username: username, password: credential.password ?? "",
                schemes: credential.schemes)
            self.path = path
            self.target = target
        }
    }
}

extension URLParts {
    /// The path and query of the request line; `nil` if a digest of it may differ from that of the server.
    fileprivate func target(_ path: String) -> String? {
        let query = self[CURLUPART_QUERY]
        // libcurl sends an empty query as a "?" only if the URL has one, and does not tell which.
        guard query != "", url?.utf8.prefix(while: { $0 != UInt8(ascii: "#") }).last != UInt8(ascii: "?") else {
            return nil
        }
        let target = query.map { path + "?" + $0 } ?? path
        return DigestChallenge.isPlain(target) ? target : nil
    }
}

extension HTTPRequest {
    /// Whether a password may be sent with the request before the server asks. The application's own fields take
    /// precedence, and a Host field may name another server's protection space.
    fileprivate var mayBeAuthorized: Bool {
        guard let credential = options.values.credential, let username = credential.username,
            credential.bearerToken == nil, DigestChallenge.isPlain(username)
        else { return false }
        return headers["Authorization"] == nil && headers["Host"] == nil
    }
}
