import SDDBase
import SDDCaches
package import SDDTransport

/// Asks the HTTP cache about a request: what is stored may answer it, or may only have to be asked about. Sees to it that
/// of several processes that want the same, one goes to the network. Immutable; works on a disk thread.
package final class HTTPInquiry: Inquiry {
    let cache: ImageCache
    /// Of the URL's own entry.
    let key: String
    /// Of who asks, behind the key of a URL.
    private let mark: String
    let request: CacheableRequest
    /// Request fields that are sent but not seen here: what depends on them cannot be told apart.
    let hiddenFields: Set<String>
    let wishes: Wishes

    package struct Wishes: OptionSet, Hashable, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }
        /// RFC 9111; else only what broke off is resumed.
        package static let http = Wishes(rawValue: 1)
        /// What the cache has is not to be handed out: O3.
        package static let ignoresCached = Wishes(rawValue: 2)
        package static let resumes = Wishes(rawValue: 4)
        /// Not for a caller, but for what comes next: RFC 5861 §3.
        package static let revalidates = Wishes(rawValue: 8)
        /// Of several processes that load a picture one downloads it, whatever HTTP says of it.
        package static let pictures = Wishes(rawValue: 16)
    }

    /// nil for a request that no cache has a part in.
    /// - Parameter ownKey: of the URL's entry, in place of what the cache makes of the URL.
    package init?(_ cache: ImageCache, _ transfer: HTTPRequest, _ wishes: Wishes, key ownKey: String? = nil) {
        // A name and password in a URL are not for a disk.
        guard cache.disk != nil, !wishes.isEmpty, transfer.plugin == nil, transfer.sink == nil,
            transfer.url.scheme == .http || transfer.url.scheme == .https, !transfer.url.hasUserinfo
        else { return nil }
        self.cache = cache
        self.wishes = wishes
        mark = Self.mark(of: transfer)
        key = ownKey ?? cache.key(of: transfer.url) + mark
        request = CacheableRequest(method: transfer.method, url: transfer.url.text, headers: transfer.headers)
        hiddenFields = transfer.options.values.usesCookies ? ["cookie"] : []
    }

    private init(revalidating other: HTTPInquiry) {
        cache = other.cache
        key = other.key
        mark = other.mark
        request = other.request
        hiddenFields = other.hiddenFields
        wishes = [.http, .revalidates]
    }

    /// What one caller may see is not for another: who says who he is has entries of his own.
    package static func mark(of transfer: HTTPRequest) -> String {
        let values = transfer.options.values
        guard transfer.headers["Authorization"] != nil || values.credential != nil || !values.verifiesCertificate else {
            return ""
        }
        let credential = values.credential
        let parts = [
            transfer.headers["Authorization"], credential?.username, credential?.password, credential?.bearerToken,
            credential?.clientCertificate, values.verifiesCertificate ? nil : "unverified",
        ]
        // Not the secrets themselves.
        let text = parts.map { $0.map { "=" + $0 } ?? "" }.joined(separator: "\n")
        return unsafe "\ncaller:" + String(text.withRawUTF8 { unsafe XXH64.sum(of: $0) }, radix: 16)
    }

    package var isOptional: Bool { wishes == .pictures }

    package var number: UInt64 { isOptional ? 0 : UInt64(truncatingIfNeeded: wishes.rawValue + 1) }

    /// Whether what is sent is the same, is compared elsewhere.
    package func isSame(as other: any Inquiry) -> Bool {
        guard let other = other as? HTTPInquiry else { return false }
        return cache === other.cache && wishes == other.wishes && key == other.key
    }

    package func ask(_ question: Question, answer: @escaping @Sendable (Finding) -> Void) {
        guard cache.isOpen, let disk = cache.disk else {
            return answer(question.isOffline && wishes.contains(.http) ? .failed(.notCached) : .network(nil))
        }
        disk.read { [self] in HTTPLook(self, disk, question, answer).look() }
    }

    /// Whatever may be stored for a URL that this caller may see: his own, and everybody's.
    func keys(ofURL url: String) -> Set<String> {
        let key = cache.key(ofURL: url)
        return [key, key + mark]
    }

    /// The same, for nobody, and without handing out what is stale.
    var revalidating: HTTPInquiry { HTTPInquiry(revalidating: self) }
}

// MARK: - What is stored

extension HTTPInquiry {
    /// An entry that answers to the request's URL, and to the fields by which its server chooses.
    struct Stored: Sendable {
        let key: String
        let entry: StoredEntry
        var response: StoredResponse
    }

    /// The URL's own entry, and that which the request selects: RFC 9111 §4.1.
    struct Entries: Sendable {
        var primary: StoredResponse?
        var selected: Stored?
    }

    /// Thread: one that may wait for the disk.
    func entries(_ disk: DiskCache, isOffline: Bool) -> Entries {
        guard let own = stored(key, disk) else { return Entries() }
        var request = request
        request.isOffline = isOffline
        guard dependsOnNothingHidden(own.response) else { return Entries(primary: own.response) }
        if CacheRules.selects(own.response, request) { return Entries(primary: own.response, selected: own) }
        guard let variantKey = CacheRules.variantKey(varyOf: own.response, request),
            let variant = stored(key + "\n" + variantKey, disk), variant.response.isVariant(of: own.response),
            dependsOnNothingHidden(variant.response), CacheRules.selects(variant.response, request)
        else { return Entries(primary: own.response) }
        return Entries(primary: own.response, selected: variant)
    }

    func dependsOnNothingHidden(_ response: StoredResponse) -> Bool {
        hiddenFields.isDisjoint(with: response.selecting.map { $0.name })
    }

    private func stored(_ key: String, _ disk: DiskCache) -> Stored? {
        guard let entry = disk.read(key), !entry.metadata.http.isEmpty,
            let response = unsafe entry.metadata.http.withUnsafeBytes({ unsafe StoredResponse(decoding: $0) })
        else { return nil }
        return Stored(key: key, entry: entry, response: response)
    }
}
