import SDDBase

/// The rules of `ImageURL`, one after the other and with a pass over the bytes for each, to compare it with.
struct NaiveImageURL: Equatable {
    let text: String
    let scheme: ImageURL.Scheme
    let hasUserinfo: Bool
    /// Host in lower case and port; "" for a URL without a host.
    let place: String

    init(_ bytes: [UInt8], allowsFiles: Bool, others: [String]) throws(ImageURL.Flaw) {
        if bytes.isEmpty { throw .empty }
        if bytes.count > ImageURL.maxLength { throw .tooLong }
        guard let given = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        if given.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7f }) { throw .malformed }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { throw .malformed }
        let name = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        switch name {
        case "http": scheme = .http
        case "https": scheme = .https
        case "file" where allowsFiles: scheme = .file
        case _ where others.contains(name): scheme = .other
        default: throw .scheme
        }
        let rest = bytes[(colon + 1)...]
        if scheme == .other {
            if rest.isEmpty { throw .malformed }
            (text, hasUserinfo, place) = (Self.encoded(bytes[...]), false, "")
            return
        }
        guard rest.starts(with: Array("//".utf8)) else { throw .malformed }
        let authority = rest.dropFirst(2).prefix { !Array("/?#".utf8).contains($0) }
        if authority.isEmpty && scheme != .file { throw .malformed }
        let parts = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        if authority.contains(where: { $0 >= 0x80 }) {
            let host = parts.last ?? []
            let name = host.prefix { $0 != UInt8(ascii: ":") }
            let rest = authority.prefix(authority.count - host.count) + host.dropFirst(name.count)
            throw scheme == .file || rest.contains { $0 >= 0x80 } ? .malformed : .hostNotASCII(name.indices)
        }
        hasUserinfo = parts.count > 1
        let end = rest.startIndex + 2 + authority.count
        let host = end - (parts.last?.count ?? 0)
        text =
            scheme == .file
            ? Self.encoded(bytes[...])
            : name + Self.encoded(bytes[colon..<host]) + Self.encoded(bytes[host..<end]).lowercased()
                + Self.encoded(bytes[end...])
        place = scheme == .file ? "" : Self.place(String(decoding: parts.last ?? [], as: UTF8.self), scheme)
    }

    private static func encoded(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.map { $0 < 0x80 ? String(UnicodeScalar($0)) : "%" + String($0, radix: 16, uppercase: true) }.joined()
    }

    private static func place(_ host: String, _ scheme: ImageURL.Scheme) -> String {
        var port: UInt64 = scheme == .https ? 443 : 80
        var name = host
        if let colon = host.utf8.lastIndex(of: UInt8(ascii: ":")) {
            let digits = host.utf8[host.utf8.index(after: colon)...]
            if digits.allSatisfy({ (0x30...0x39).contains($0) }) {
                name = String(host[..<colon])
                if !digits.isEmpty { port = digits.reduce(0) { ($0 &* 10) &+ UInt64($1 &- 0x30) } }
            }
        }
        return name.lowercased() + " \(port)"
    }
}
