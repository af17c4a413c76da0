internal import SDDBase

/// Which of a URL's variants answers which request: RFC 9111 §4.1. Pure.
extension CacheRules {
    /// Whether what the response depends on is the same as when it was stored.
    package static func selects(_ stored: StoredResponse, _ request: CacheableRequest) -> Bool {
        guard let names = names(inVaryOf: stored.fields) else { return false }
        return selecting(names, in: request) == stored.selecting
    }

    /// A text for what the request chooses by, as to the fields that this response depends on: the same for requests
    /// that choose the same, in every process that has the same secret. One line for each field, sorted.
    /// - Returns: nil when the response depends on nothing, or on what no request says ("*").
    package static func variantKey(varyOf stored: StoredResponse, _ request: CacheableRequest) -> String? {
        guard let names = names(inVaryOf: stored.fields), !names.isEmpty else { return nil }
        return selecting(names, in: request)
            // A mark has no line end, and a name no colon.
            .map { field in field.name + (field.value.map { ":" + $0 } ?? "") }
            .joined(separator: "\n")
    }

    /// In lower case, sorted, each once; nil for one that never matches.
    static func names(inVaryOf fields: ResponseFields) -> [String]? {
        let members = FieldText.members(of: fields.values(of: "Vary"))
        // "*" is a token like others; what is none names no field, and nobody knows what it asks for.
        guard members.allSatisfy({ FieldText.isToken($0) && !$0.elementsEqual("*".utf8) }) else { return nil }
        return Set(members.map(FieldText.lowered)).sorted()
    }

    static func selecting(_ names: [String], in request: CacheableRequest) -> [SelectingField] {
        names.map { selecting($0, of: request.headers, request.secret) }
    }

    /// One field: its value, or its values in their order, as a mark, which tells no secret.
    static func selecting(_ name: String, of headers: HTTPFields, _ secret: SecretKey) -> SelectingField {
        let value = headers.combined(name).map { secret.mark(of: "vary\n\(name)\n" + normalized($0, of: name)) }
        return SelectingField(name: name, value: value)
    }

    /// §4.1: white space that does not matter is left out, and the case of letters where that is known not to matter
    /// (RFC 9110 §12.5.2 to §12.5.4).
    private static func normalized(_ value: String, of name: String) -> String {
        let whole = FieldText.trimmed(value[...].utf8)
        // Within quotes all of it may matter.
        if whole.contains(UInt8(ascii: "\"")) { return String(decoding: whole, as: UTF8.self) }
        let members = FieldText.members(of: [value]).map(withoutSpace)
        let text = members.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",")
        return caseless.contains(name) ? FieldText.lowered(text.utf8) : text
    }

    /// White space is left out around ";", as in "image/png; q=0.5", and is one space elsewhere.
    private static func withoutSpace(_ member: Substring.UTF8View) -> [UInt8] {
        let parts = member.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let words = parts.map { $0.split(whereSeparator: FieldText.isSpace).joined(separator: [UInt8(ascii: " ")]) }
        return Array(words.joined(separator: [UInt8(ascii: ";")]))
    }

    private static let caseless: Set<String> = ["accept-charset", "accept-encoding", "accept-language"]
}
