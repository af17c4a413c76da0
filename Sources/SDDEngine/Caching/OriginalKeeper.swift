import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport

/// Who is to have the encoded original of a load: the disk of a cache, under a key. Immutable; any thread.
package final class OriginalKeeper: Sendable {
    let cache: ImageCache
    let key: String

    package init(_ cache: ImageCache, key: String) {
        self.cache = cache
        self.key = key
    }

    func isSame(as other: OriginalKeeper) -> Bool { cache === other.cache && key == other.key }

    /// Whether the HTTP cache has it under that very key, or is about to.
    func isServed<Subscriber>(by caching: Job<Subscriber>.Caching?) -> Bool {
        guard let caching, let http = caching.inquiry as? HTTPInquiry, http.cache === cache, http.key == key else {
            return false
        }
        return caching.origin != .network || caching.outcome?.isWritten == true
    }

    /// With what HTTP says of it, where that may be kept, so that the server can be asked whether it is still right.
    func keep(_ original: Original) {
        guard cache.serializer == nil, let disk = cache.disk, cache.isOpen else {
            let item = CacheItem(
                key: key, image: original.image, bytes: original.body, extended: nil, levels: .disk)
            return cache.store(item) { _ in }
        }
        let metadata = EntryMetadata(
            key: key, http: original.stored?.encoded() ?? [], format: CacheItem.formatNumber(of: original.body))
        disk.store(metadata, original.body) { _ in }
    }
}

/// A body that has proved to be a picture, with all that is known of it.
struct Original: Sendable {
    let body: Bytes
    /// Of the body as it is; nil where somebody wanted it in another form.
    let image: Image?
    let head: ResponseHead?
    let request: HTTPRequest

    /// As the HTTP cache keeps it; nil if it must not, or there was no HTTP.
    fileprivate var stored: StoredResponse? {
        guard let head, request.url.scheme == .http || request.url.scheme == .https else { return nil }
        let asked = CacheableRequest(method: request.method, url: request.url.text, headers: request.headers)
        let response = head.response
        guard CacheRules.stores(asked, status: response.status, fields: response.fields, isComplete: true) else {
            return nil
        }
        return CacheRules.makeStored(
            asked, status: response.status, url: response.url, fields: response.fields,
            requestTime: head.requestTime / 1_000_000, responseTime: head.responseTime / 1_000_000,
            family: UInt64.random(in: 1...UInt64.max))
    }
}
