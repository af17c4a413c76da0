import SDDBase

/// An Authorization field that a request carries because of an earlier challenge, without being challenged itself.
/// Immutable.
package struct Authorization: Sendable, Equatable {
    enum Proof: Sendable, Equatable {
        /// The password itself, which the server has accepted in this realm.
        case basic(realm: String)
        /// A digest with a nonce that the server has accepted.
        case digest
        /// A digest in answer to the challenge of a response to this very request.
        case answer
    }

    @ExactText var field: String
    let proof: Proof

    /// The consequence of a response with status 401 to a request with such a field.
    enum Refusal: Equatable {
        /// The password is wrong: the response is the result.
        case final
        /// The challenge is answered.
        case asksFor(DigestChallenge)
        /// The server asks for something else: the request is sent as if nothing was known.
        case unknown
    }

    func refusal(_ challenges: [AuthChallenge]) -> Refusal {
        switch proof {
        case .answer: return .final
        case .basic(let realm):
            let isSame = challenges.contains { $0.scheme == "basic" && $0.parameters["realm"] ?? "" == realm }
            return isSame ? .final : .unknown
        case .digest: return challenges.lazy.compactMap { DigestChallenge($0) }.first.map { .asksFor($0) } ?? .unknown
        }
    }

    /// Returns the field of the scheme Basic: RFC 7617 §2.
    static func basic(_ username: String, _ password: String, realm: String) -> Authorization {
        Authorization(field: "Basic " + base64("\(username):\(password)"), proof: .basic(realm: realm))
    }

    private static func base64(_ text: String) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let bytes = Array(text.utf8)
        var encoded: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                encoded.append(place <= group.count ? digits[word >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
