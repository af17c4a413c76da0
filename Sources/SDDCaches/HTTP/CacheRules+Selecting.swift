internal import SDDBase

/// Selection of a URL's variant for a request: RFC 9111 §4.1. Pure.
extension CacheRules {
    /// Whether the request's fields match those that the response was selected by.
    package static func selects(_ stored: StoredResponse, _ request: CacheableRequest) -> Bool {
        guard let names = names(inVaryOf: stored.fields) else { return false }
        return selecting(names, in: request) == stored.selecting
    }

    /// Returns a key for the variant that a request selects, formed from the fields that the response depends on: equal
    /// for requests that select the same variant, in every process with the same secret. It has one line for each
    /// field, sorted.
    /// - Returns: nil if the response depends on no field, or on "*", which matches no request.
    package static func variantKey(varyOf stored: StoredResponse, _ request: CacheableRequest) -> String? {
        guard let names = names(inVaryOf: stored.fields), !names.isEmpty else { return nil }
        return selecting(names, in: request)
            // A mark contains no line end, and a name no colon.
            .map { field in field.name + (field.value.map { ":" + $0 } ?? "") }
            .joined(separator: "\n")
    }

    /// Returns the names in Vary in lower case, sorted and without duplicates; nil if Vary matches no request.
    static func names(inVaryOf fields: ResponseFields) -> [String]? {
        let members = FieldText.members(of: fields.values(of: "Vary"))
        // "*" is a token too. A member that is not a token names no field, so its meaning is unknown.
        guard members.allSatisfy({ FieldText.isToken($0) && !$0.elementsEqual("*".utf8) }) else { return nil }
        return Set(members.map(FieldText.lowered)).sorted()
    }

    static func selecting(_ names: [String], in request: CacheableRequest) -> [SelectingField] {
        names.map { selecting($0, of: request.headers, request.secret) }
    }

    /// Returns one field with the mark of its value, or of all its values in order. A mark does not reveal the value.
    static func selecting(_ name: String, of headers: HTTPFields, _ secret: SecretKey) -> SelectingField {
        let value = headers.combined(name).map { secret.mark(of: "vary\n\(name)\n" + normalized($0, of: name)) }
        return SelectingField(name: name, value: value)
    }

    /// Normalizes a value (§4.1): removes insignificant white space, and for fields known to be lists of preferences
    /// (RFC 9110 §12.5.2 to §12.5.4) ignores the case of their members and their order, which means nothing.
    private static func normalized(_ value: String, of name: String) -> String {
        let whole = FieldText.trimmed(value[...].utf8)
        // White space and case may be significant within quotes.
        if whole.contains(UInt8(ascii: "\"")) { return String(decoding: whole, as: UTF8.self) }
        let members = FieldText.members(of: [value]).map(withoutSpace)
        let texts =
            preferences.contains(name)
            ? members.map { FieldText.lowered($0) }.sorted() : members.map { String(decoding: $0, as: UTF8.self) }
        return texts.joined(separator: ",")
    }

    /// Removes white space around ";", as in "image/png; q=0.5", and reduces it to one space elsewhere.
    private static func withoutSpace(_ member: Substring.UTF8View) -> [UInt8] {
        let parts = member.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let words = parts.map { $0.split(whereSeparator: FieldText.isSpace).joined(separator: [UInt8(ascii: " ")]) }
        return Array(words.joined(separator: [UInt8(ascii: ";")]))
    }

    private static let preferences: Set<String> = ["accept-charset", "accept-encoding", "accept-language"]
}
