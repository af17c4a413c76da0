internal import SDDBase

/// Selection of a URL's variant for a request: RFC 9111 §4.1. Pure.
extension CacheRules {
    /// Whether the request's fields match those that the response was selected by.
    package static func selects(_ stored: StoredResponse, _ request: CacheableRequest) -> Bool {
        guard let names = Vary.names(in: stored.fields) else { return false }
        return selecting(names, in: request) == stored.selecting
    }

    /// Returns a key for the variant that a request selects, formed from the fields that the response depends on: equal
    /// for requests that select the same variant, in every process with the same secret. It has one line for each
    /// field, sorted.
    /// - Returns: nil if the response depends on no field, or on "*", which matches no request.
    package static func variantKey(varyOf stored: StoredResponse, _ request: CacheableRequest) -> String? {
        guard let names = Vary.names(in: stored.fields), !names.isEmpty else { return nil }
        return selecting(names, in: request)
            // A mark contains no line end, and a name no colon.
            .map { field in field.name + (field.value.map { ":" + $0 } ?? "") }
            .joined(separator: "\n")
    }

    static func selecting(_ names: [String], in request: CacheableRequest) -> [SelectingField] {
        names.map { Vary.selecting($0, of: request.headers, request.secret) }
    }
}
