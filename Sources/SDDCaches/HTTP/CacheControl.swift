package import SDDBase

/// What the Cache-Control fields of one message say, a request or a response (RFC 9111 §5.2, RFC 5861, RFC 8246).
/// Directives that nobody knows, and those for shared caches (s-maxage, proxy-revalidate), say nothing here. A value.
package struct CacheControl: Equatable, Sendable {
    private let directives: [CacheDirective]

    package init(_ values: [String]) { directives = values.flatMap(CacheDirective.all) }

    package init(_ response: ResponseFields) { self.init(response.values(of: "Cache-Control")) }

    /// RFC 9111 §5.4: Pragma counts in a request that has no Cache-Control.
    package init(_ request: HTTPFields) {
        self.init([request.combined("Cache-Control") ?? request.combined("Pragma").map(Self.pragma) ?? ""])
    }

    private static func pragma(_ value: String) -> String {
        CacheControl([value]).has("no-cache") ? "no-cache" : ""
    }

    func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// As it is defined: without an argument. For what makes us less careful.
    private func hasPlain(_ name: String) -> Bool { directives.contains { $0.name == name && $0.argument == .none } }

    /// RFC 9111 §4.2.1: of values that differ, or are none, the response is to be considered stale. Quoted or not,
    /// though only the token may be sent (§5.2.1.1, §5.2.2.1).
    /// - Parameter otherwise: what stands for such values.
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

    /// Of a response, §5.2.2.1; of a request, §5.2.1.1.
    package var maxAge: Int64? { seconds("max-age", otherwise: 0) }
    /// §5.2.2.5, §5.2.1.5
    package var isNoStore: Bool { has("no-store") }
    /// RFC 5861 §4, of a response and of a request: 0 without.
    package var staleIfError: Int64 { seconds("stale-if-error", otherwise: 0) ?? 0 }
}

// MARK: - Of a response

extension CacheControl {
    /// §5.2.2.2
    package var mustRevalidate: Bool { has("must-revalidate") }
    /// §5.2.2.3
    package var mustUnderstand: Bool { hasPlain("must-understand") }
    /// §5.2.2.7; with field names, which are for shared caches, it counts as well.
    package var isPrivate: Bool { has("private") }
    /// §5.2.2.9
    package var isPublic: Bool { hasPlain("public") }
    /// RFC 8246 §2
    package var isImmutable: Bool { hasPlain("immutable") }
    /// RFC 5861 §3: 0 without.
    package var staleWhileRevalidate: Int64 { seconds("stale-while-revalidate", otherwise: 0) ?? 0 }

    /// §5.2.2.4: never used without being validated. Also if fields are named and we cannot do without one of these.
    package var needsValidation: Bool {
        let hasNoNames = directives.contains { $0.name == "no-cache" && Self.names(in: $0).isEmpty }
        return hasNoNames || withheldFields.contains(where: StorableFields.areNeeded)
    }

    /// §5.2.2.4: the fields that no-cache names, in lower case.
    package var withheldFields: [String] {
        directives.filter { $0.name == "no-cache" }.flatMap(Self.names)
    }

    private static func names(in directive: CacheDirective) -> [String] {
        guard case .text(let list) = directive.argument else { return [] }
        return FieldText.members(of: [list]).map(FieldText.lowered)
    }
}

// MARK: - Of a request

extension CacheControl {
    /// §5.2.1.4
    package var asksForValidation: Bool { has("no-cache") }
    /// §5.2.1.7
    package var isOnlyIfCached: Bool { has("only-if-cached") }
    /// §5.2.1.3: what cannot be read asks for more than there can be.
    package var minFresh: Int64? { seconds("min-fresh", otherwise: .max) }

    /// §5.2.1.2: without a value as stale as can be; nil when it is not there, or cannot be read.
    package var maxStale: Int64? {
        let seconds = seconds("max-stale", otherwise: -1)
        if seconds != -1 { return seconds }
        return directives.allSatisfy { $0.name != "max-stale" || $0.argument == .none } ? .max : nil
    }
}
