import SDDBase

/// A challenge of the scheme Digest that can be answered here: RFC 7616. Pure.
struct DigestChallenge: Equatable {
    let realm: String
    var nonce: String
    private let opaque: String?
    private let algorithm: Algorithm
    private let hasSession: Bool
    /// The name of the algorithm as the server wrote it; `nil` if it wrote none.
    private let algorithmName: String?
    /// Whether the server offers the protection quality "auth". Without any, the form of RFC 2069 is used.
    private let hasQuality: Bool
    /// The paths that the protection space consists of; `nil` means all of the host.
    let paths: [String]?

    private enum Algorithm { case md5, sha256 }

    /// - Returns: `nil` for a challenge of another scheme, or with an algorithm or values that are not supported.
    init?(_ challenge: AuthChallenge) {
        let values = challenge.parameters
        guard challenge.scheme == "digest", let realm = values["realm"], let nonce = values["nonce"],
            values["userhash"]?.lowercased() != "true"
        else { return nil }
        // Servers differ about escaped characters within the digest.
        guard [realm, nonce, values["opaque"] ?? ""].allSatisfy(Self.isPlain) else { return nil }
        let name = values["algorithm"]
        switch name?.lowercased() {
        case nil, "md5": (algorithm, hasSession) = (.md5, false)
        case "md5-sess": (algorithm, hasSession) = (.md5, true)
        case "sha-256": (algorithm, hasSession) = (.sha256, false)
        case "sha-256-sess": (algorithm, hasSession) = (.sha256, true)
        default: return nil
        }
        if let qualities = values["qop"] {
            let names = qualities.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard names.contains("auth") else { return nil }
            hasQuality = true
        } else {
            hasQuality = false
        }
        (self.realm, self.nonce, opaque, algorithmName) = (realm, nonce, values["opaque"], name)
        paths = values["domain"].flatMap(Self.paths)
    }

    /// Whether the text needs no escapes in a quoted string, and has no character in place of bytes that are not UTF-8.
    static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= longestValue && !text.unicodeScalars.contains("\u{fffd}")
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    private static let longestValue = 2048

    /// Returns the paths in a domain parameter. URIs of other hosts are ignored, because a password is never sent
    /// there; nothing is protected then as far as this host is concerned.
    private static func paths(_ domain: String) -> [String]? {
        let uris = domain.split(separator: " ")
        return uris.isEmpty ? nil : uris.filter { $0.first == "/" && $0.dropFirst().first != "/" }.map(String.init)
    }

    /// Returns the value of the Authorization field.
    /// - Parameters:
    ///   - target: The path and query of the request line.
    ///   - count: The number of requests with this nonce so far, this one included.
    ///   - clientNonce: Random hexadecimal digits.
    func answer(
        _ username: String, _ password: String, method: String, target: String, count: UInt32, clientNonce: String
    ) -> String {
        let digits = String(count, radix: 16)
        let number = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        var secret = hash("\(username):\(realm):\(password)")
        if hasSession { secret = hash("\(secret):\(nonce):\(clientNonce)") }
        let request = hash("\(method):\(target)")
        let response =
            hasQuality
            ? hash("\(secret):\(nonce):\(number):\(clientNonce):auth:\(request)")
            : hash("\(secret):\(nonce):\(request)")
        var field = "Digest username=\"\(username)\", realm=\"\(realm)\", nonce=\"\(nonce)\", uri=\"\(target)\""
        // RFC 7616 §3.4: these values are written without quotes.
        if hasQuality { field += ", cnonce=\"\(clientNonce)\", nc=\(number), qop=auth" }
        if hasSession && !hasQuality { field += ", cnonce=\"\(clientNonce)\"" }
        field += ", response=\"\(response)\""
        if let opaque { field += ", opaque=\"\(opaque)\"" }
        if let algorithmName { field += ", algorithm=\(algorithmName)" }
        return field
    }

    private func hash(_ text: String) -> String {
        switch algorithm {
        case .md5: return MD5.hex(of: text)
        case .sha256:
            let digits = Array("0123456789abcdef".utf8)
            let sum = Array(text.utf8).withUnsafeBytes { SHA256.digest(of: $0) }
            return String(decoding: sum.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
        }
    }
}
