package import SDDBase
package import SDDCaches
package import SDDTransport

/// A lookup in the HTTP cache: a stored response may answer the request, or may need revalidation. Ensures that only
/// one of several processes that want the same URL goes to the network. Immutable; works on a disk thread.
package final class HTTPCacheLookup: CacheLookup {
    let cache: ImageCache
    /// The cache key of the URL's own entry.
    let key: String
    /// The suffix of keys that identifies the caller.
    private let mark: String
    let request: CacheableRequest
    let wishes: Wishes
    /// Most bytes of a body; 0 means no limit. A larger stored body is ignored, as the limit would refuse it on
    /// arrival.
    private let bodyLimit: Int64

    package struct Wishes: OptionSet, Hashable, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }
        /// The rules of RFC 9111 apply; otherwise only interrupted downloads are resumed.
        package static let http = Wishes(rawValue: 1)
        /// Cached responses are not handed out (O3).
        package static let ignoresCached = Wishes(rawValue: 2)
        package static let resumes = Wishes(rawValue: 4)
        /// A background revalidation for later requests, without a caller (RFC 5861 §3).
        package static let revalidates = Wishes(rawValue: 8)
        /// Only one of several processes that load an image downloads it, regardless of HTTP's caching rules.
        package static let pictures = Wishes(rawValue: 16)
        /// The entry is a load's: it stays, whatever the server says now.
        static let refreshesLoad = Wishes(rawValue: 32)
        /// The server is asked, however fresh the entry is.
        static let asksServer = Wishes(rawValue: 64)
        /// Nothing but the cache answers, however stale the entry is.
        static let onlyStored = Wishes(rawValue: 128)
    }

    /// Returns `nil` for a request that bypasses caches.
    /// - Parameter ownKey: the key of the URL's entry, in place of the one the cache makes from the URL.
    package init?(_ cache: ImageCache, _ transfer: HTTPRequest, _ wishes: Wishes, key ownKey: String? = nil) {
        guard cache.disk != nil, !wishes.isEmpty, transfer.appTransport == nil, transfer.sink == nil,
            transfer.scheme.isHTTP
        else { return nil }
        // Cookies that are not known here may identify any caller.
        if transfer.options.values.usesCookies && transfer.cookies == nil { return nil }
        self.cache = cache
        self.wishes = wishes
        mark = cache.mark(of: RequestIdentity(of: transfer))
        key = ownKey ?? cache.key(of: transfer.url) + mark
        request = CacheableRequest(transfer, secret: cache.secret)
        bodyLimit = transfer.options.values.maxBodyBytes
    }

    private init(revalidating other: HTTPCacheLookup) {
        cache = other.cache
        key = other.key
        mark = other.mark
        request = other.request
        wishes = [.http, .revalidates]
        bodyLimit = other.bodyLimit
    }

    package var isOptional: Bool { wishes == .pictures }

    package var hashKey: UInt64 { isOptional ? 0 : UInt64(truncatingIfNeeded: wishes.rawValue + 1) }

    /// Compares the lookups only; the requests as sent are compared elsewhere.
    package func isSame(as other: any CacheLookup) -> Bool {
        guard let other = other as? HTTPCacheLookup else { return false }
        return cache === other.cache && wishes == other.wishes && key.hasSameBytes(as: other.key)
    }

    package func start(_ context: LookupContext, answer: @escaping @Sendable (LookupResult) -> Void) {
        guard cache.isOpen, let disk = cache.disk else {
            return answer(isOffline(context) && wishes.contains(.http) ? .failed(.notCached) : .network(nil))
        }
        HTTPLookupJob(self, disk, context).look(for: context.wish, answer: answer)
    }

    /// Whether the network must not be used. A load that does not use the HTTP cache is refreshed offline, too.
    func isOffline(_ context: LookupContext) -> Bool {
        wishes.contains(.onlyStored) || context.isOffline && !wishes.contains(.refreshesLoad)
    }

    package func raise(_ wish: DiskRead, to priority: Priority) { cache.disk?.raise(wish, to: priority) }

    /// Returns all keys a URL may be stored under for this caller: the caller's own and the shared one.
    func keys(ofURL url: String) -> Set<ExactText<String>> {
        let key = cache.key(ofURL: url)
        let own = key + mark
        let keys = [key, own, Self.partsKey(of: key), Self.partsKey(of: own)]
        return Set(keys.map { ExactText($0) })
    }

    /// Whether a URL is the request's, but for what the cache's keys leave out of it.
    func isOwn(_ url: String) -> Bool { isSame(url, as: request.url) }

    func isSame(_ url: String, as other: String) -> Bool {
        url == other || cache.key(ofURL: url).hasSameBytes(as: cache.key(ofURL: other))
    }

    /// A copy for a background revalidation, which has no caller and serves no stale response.
    var revalidating: HTTPCacheLookup { HTTPCacheLookup(revalidating: self) }
}

/// A lookup for a load that has found nothing on disk, and downloads. It needs to look once more, with a claim to
/// download, only if another user of the disk may download or have stored the same.
struct ClaimIfShared: Sendable {
    let lookup: HTTPCacheLookup
    /// `StoreProgress.settled` before the load looked.
    let settled: UInt64
}

// MARK: - Stored responses

extension HTTPCacheLookup {
    /// A stored response that matches the request's URL and the request fields the server selects by.
    struct Stored: Sendable {
        let key: String
        let entry: StoredEntry
        var response: StoredResponse
        /// What is served of the body to a request for a range; `nil` means all of it.
        var cut: Cut?
        /// The record of an entry that consists of parts.
        var parts: StoredParts?

        /// The body as it is served.
        var body: Bytes { cut?.body ?? entry.body }
    }

    /// The URL's own entry, and the one the request selects (RFC 9111 §4.1).
    struct Entries: Sendable {
        var primary: StoredResponse?
        var selected: Stored?
    }

    /// Reads the entries for the request. Call on a thread that may wait for the disk.
    func entries(_ disk: DiskCache, isOffline: Bool) -> Entries {
        let entries = wholeEntries(disk, isOffline: isOffline)
        guard let range = request.range else { return entries }
        return cut(entries, to: range, disk)
    }

    private func wholeEntries(_ disk: DiskCache, isOffline: Bool) -> Entries {
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
    /// - Parameter secret: the cache's secret.
    init(_ transfer: HTTPRequest, secret: SecretKey) {
        self.init(
            method: transfer.method, url: transfer.url.textWithoutUserinfo, headers: transfer.headers, secret: secret)
    }
}
