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
    let wishes: Wishes
    /// Of a body; 0: none. What is stored and larger would be refused if it came.
    private let bodyLimit: Int64

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
        guard cache.disk != nil, !wishes.isEmpty, transfer.plugin == nil, transfer.sink == nil,
            transfer.url.scheme == .http || transfer.url.scheme == .https
        else { return nil }
        // With cookies that nobody has looked at, nobody knows who asks.
        if transfer.options.values.usesCookies && transfer.cookies == nil { return nil }
        self.cache = cache
        self.wishes = wishes
        mark = cache.mark(of: Caller(of: transfer))
        key = ownKey ?? cache.key(of: transfer.url) + mark
        request = CacheableRequest(transfer, secret: cache.secret)
        bodyLimit = transfer.options.values.maxBodyBytes
    }

    private init(revalidating other: HTTPInquiry) {
        cache = other.cache
        key = other.key
        mark = other.mark
        request = other.request
        wishes = [.http, .revalidates]
        bodyLimit = other.bodyLimit
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
        HTTPLook(self, disk, question).look(answer: answer)
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
        if CacheRules.selects(own.response, request) { return Entries(primary: own.response, selected: own) }
        guard let variantKey = CacheRules.variantKey(varyOf: own.response, request),
            let variant = stored(key + "\n" + variantKey, disk), variant.response.isVariant(of: own.response),
            CacheRules.selects(variant.response, request)
        else { return Entries(primary: own.response) }
        return Entries(primary: own.response, selected: variant)
    }

    private func stored(_ key: String, _ disk: DiskCache) -> Stored? {
        guard let entry = disk.read(key), !entry.metadata.http.isEmpty,
            bodyLimit == 0 || entry.body.count <= bodyLimit,
            let response = unsafe entry.metadata.http.withUnsafeBytes({ unsafe StoredResponse(decoding: $0) })
        else { return nil }
        return Stored(key: key, entry: entry, response: response)
    }
}

extension CacheableRequest {
    /// - Parameter secret: of the cache.
    init(_ transfer: HTTPRequest, secret: SecretKey) {
        self.init(
            method: transfer.method, url: transfer.url.textWithoutUserinfo, headers: transfer.headers, secret: secret)
    }
}
