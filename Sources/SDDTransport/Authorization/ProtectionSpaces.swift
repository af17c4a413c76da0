import SDDBase

/// The protection spaces in which servers have accepted a password: RFC 7617 §2.2 and RFC 7616 §3.6. A later request of
/// the same identity to the same space is sent with its password or digest at once, and takes one transfer instead of
/// two. Nothing is ever used for another user, password, host, port or scheme of the URL.
struct ProtectionSpaces {
    /// The caller and the origin that a password was accepted from.
    struct Key: Equatable {
        let origin: URLParts.Origin
        @ExactText var username: String
        @ExactText var password: String
        let schemes: Credential.Schemes
    }

    private enum Proof {
        case basic(realm: String)
        /// - Parameter count: The number of requests with the nonce so far.
        case digest(DigestChallenge, count: UInt32)
    }

    private struct Space {
        let key: Key
        /// The beginnings of the paths that belong to it.
        let paths: [String]
        var proof: Proof

        func covers(_ path: String) -> Bool { paths.contains { path.hasPrefix($0) } }

        func isSame(as other: Space) -> Bool { key == other.key && paths == other.paths }
    }

    /// The spaces, the oldest first.
    private var spaces: [Space] = []
    /// Limit on spaces. A space that was forgotten costs another challenge.
    static let most = 64

    /// Returns the field for a request; `nil` if it belongs to no known space.
    mutating func authorization(
        _ key: Key, method: String, path: String, target: String, clientNonce: @autoclosure () -> String
    ) -> Authorization? {
        guard let index = spaces.lastIndex(where: { $0.key == key && $0.covers(path) }) else { return nil }
        switch spaces[index].proof {
        case .basic(let realm): return .basic(key.username, key.password, realm: realm)
        case .digest(let challenge, let count):
            let (next, isTooLarge) = count.addingReportingOverflow(1)
            guard !isTooLarge else {
                spaces.remove(at: index)
                return nil
            }
            spaces[index].proof = .digest(challenge, count: next)
            let field = challenge.answer(
                key.username, key.password, method: method, target: target, count: next, clientNonce: clientNonce())
            return Authorization(field: field, proof: .digest)
        }
    }

    /// Records that the server has accepted the password for a path, with the scheme Basic.
    mutating func acceptedBasic(_ key: Key, path: String, realm: String) {
        // RFC 7617 §2.2: everything at or below the last "/" of the path belongs to the same space.
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "/"
        insert(Space(key: key, paths: [folder], proof: .basic(realm: realm)))
    }

    /// Records that the server has accepted the first digest that was made from a challenge.
    mutating func acceptedDigest(_ key: Key, _ challenge: DigestChallenge) {
        insert(Space(key: key, paths: challenge.paths ?? ["/"], proof: .digest(challenge, count: 1)))
    }

    private mutating func insert(_ space: Space) {
        spaces.removeAll { $0.isSame(as: space) }
        if spaces.count >= Self.most { spaces.removeFirst() }
        spaces.append(space)
    }

    /// Replaces the nonce of the space that a path belongs to: RFC 7616 §3.5, nextnonce.
    mutating func changeNonce(_ key: Key, path: String, to nonce: String) {
        guard DigestChallenge.isPlain(nonce),
            let index = spaces.lastIndex(where: { $0.key == key && $0.covers(path) }),
            case .digest(var challenge, _) = spaces[index].proof
        else { return }
        challenge.nonce = nonce
        spaces[index].proof = .digest(challenge, count: 0)
    }

    /// Forgets the space that a path belongs to, because the server has refused what was sent.
    mutating func forget(_ key: Key, path: String) {
        guard let index = spaces.lastIndex(where: { $0.key == key && $0.covers(path) }) else { return }
        spaces.remove(at: index)
    }
}
