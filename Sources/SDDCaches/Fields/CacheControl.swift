package import SDDBase

/// The Cache-Control directives of one message, a request or a response (RFC 9111 §5.2, RFC 5861, RFC 8246). Unknown
/// directives and those for shared caches (s-maxage, proxy-revalidate) are ignored. A value type.
package struct CacheControl: Equatable, Sendable {
    private let directives: [CacheDirective]

    package init(_ values: [String]) { directives = values.flatMap(CacheDirective.all) }

    package init(_ response: ResponseFields) { self.init(response.values(of: "Cache-Control")) }

    /// Reads the directives of a request. Pragma counts only if there is no Cache-Control (RFC 9111 §5.4).
    package init(_ request: HTTPFields) {
        self.init([request.combined("Cache-Control") ?? request.combined("Pragma").map(Self.pragma) ?? ""])
    }

    private static func pragma(_ value: String) -> String {
        CacheControl([value]).has("no-cache") ? "no-cache" : ""
    }

    func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// Whether the directive is present without an argument, as it is defined. Used for directives that relax the
    /// rules.
    private func hasPlain(_ name: String) -> Bool { directives.contains { $0.name == name && $0.argument == .none } }

    /// Returns the argument of a directive in seconds; nil if it is absent. Conflicting or invalid values should make a
    /// response stale (RFC 9111 §4.2.1). Quoted values are accepted, although only the token form may be sent
    /// (§5.2.1.1, §5.2.2.1).
    /// - Parameter otherwise: the result for conflicting or invalid values.
    private func seconds(_ name: String, otherwise: Int64) -> Int64? {
        var found: Int64?
        for directive in directives where directive.name == name {
            guard case .text(let text) = directive.argument, let value = DeltaSeconds.parse(text.utf8),
                value == found ?? value
            else { return otherwise }
            found = value
        }
        return found
    }

    /// max-age of a response (§5.2.2.1) or a request (§5.2.1.1).
    package var maxAge: Int64? { seconds("max-age", otherwise: 0) }
    /// no-store of a response (§5.2.2.5) or a request (§5.2.1.5).
    package var isNoStore: Bool { has("no-store") }
    /// stale-if-error of a response or a request (RFC 5861 §4); 0 if absent.
    package var staleIfError: Int64 { seconds("stale-if-error", otherwise: 0) ?? 0 }
}

// MARK: - Responses

extension CacheControl {
    /// must-revalidate (§5.2.2.2).
    package var mustRevalidate: Bool { has("must-revalidate") }
    /// must-understand (§5.2.2.3).
    package var mustUnderstand: Bool { hasPlain("must-understand") }
    /// private (§5.2.2.7). It counts even with field names, which are meant for shared caches.
    package var isPrivate: Bool { has("private") }
    /// public (§5.2.2.9).
    package var isPublic: Bool { hasPlain("public") }
    /// immutable (RFC 8246 §2).
    package var isImmutable: Bool { hasPlain("immutable") }
    /// stale-while-revalidate (RFC 5861 §3); 0 if absent.
    package var staleWhileRevalidate: Int64 { seconds("stale-while-revalidate", otherwise: 0) ?? 0 }

    /// True if the response must not be used without validation (no-cache, §5.2.2.4). Also true if no-cache names
    /// fields of which the cache needs at least one.
    package var needsValidation: Bool {
        let hasNoNames = directives.contains { $0.name == "no-cache" && Self.names(in: $0).isEmpty }
        return hasNoNames || withheldFields.contains(where: StorableFields.areNeeded)
    }

    /// The fields that no-cache names (§5.2.2.4), in lower case.
    package var withheldFields: [String] {
        directives.filter { $0.name == "no-cache" }.flatMap(Self.names)
    }

    private static func names(in directive: CacheDirective) -> [String] {
        guard case .text(let list) = directive.argument else { return [] }
        return FieldText.members(of: [list]).map(FieldText.lowered)
    }
}

// MARK: - Requests

extension CacheControl {
    /// no-cache (§5.2.1.4).
    package var asksForValidation: Bool { has("no-cache") }
    /// only-if-cached (§5.2.1.7).
    package var isOnlyIfCached: Bool { has("only-if-cached") }
    /// min-fresh (§5.2.1.3). An invalid value becomes the largest one, which no response satisfies.
    package var minFresh: Int64? { seconds("min-fresh", otherwise: .max) }

    /// max-stale (§5.2.1.2). Without an argument it accepts any staleness; nil if it is absent or invalid.
    package var maxStale: Int64? {
        let seconds = seconds("max-stale", otherwise: -1)
        if seconds != -1 { return seconds }
        return directives.allSatisfy { $0.name != "max-stale" || $0.argument == .none } ? .max : nil
    }
}
