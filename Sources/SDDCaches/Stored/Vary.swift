internal import SDDBase

/// The request fields that a response names in Vary, by which it is selected for a request: RFC 9111 §4.1. Pure.
enum Vary {
    /// Returns the names in Vary in lower case, sorted and without duplicates; nil if Vary matches no request.
    static func names(in fields: ResponseFields) -> [String]? {
        let members = FieldText.members(of: fields.values(of: "Vary"))
        // "*" is a token too. A member that is not a token names no field, so its meaning is unknown.
        guard members.allSatisfy({ FieldText.isToken($0) && !$0.elementsEqual("*".utf8) }) else { return nil }
        return Set(members.map(FieldText.lowered)).sorted()
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
