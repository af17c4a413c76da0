import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport

/// Who is to have the encoded original of a load: a cache, on its levels, under a key. Immutable; any thread.
package final class OriginalKeeper: Sendable {
    let cache: ImageCache
    let key: String
    let levels: CacheLevels
    /// What comes is of another URL than the key: what HTTP says of it is not kept, so that the HTTP cache never answers
    /// for the key's URL with it.
    private let isOfAlternative: Bool

    package init(_ cache: ImageCache, key: String, levels: CacheLevels = .disk, isOfAlternative: Bool = false) {
        self.cache = cache
        self.key = key
        self.levels = levels
        self.isOfAlternative = isOfAlternative
    }

    /// The same for what comes from an alternative URL of a load.
    var ofAlternative: OriginalKeeper { OriginalKeeper(cache, key: key, levels: levels, isOfAlternative: true) }

    func isSame(as other: OriginalKeeper) -> Bool {
        cache === other.cache && key == other.key && levels == other.levels && isOfAlternative == other.isOfAlternative
    }

    /// The disk has it, or is about to, for another of the same place.
    func isOnDiskLike(_ other: OriginalKeeper) -> Bool {
        levels.contains(.disk) && cache === other.cache && key == other.key
    }

    /// The same for memory alone; nil if it is not for that.
    var forMemory: OriginalKeeper? {
        levels.contains(.memory)
            ? OriginalKeeper(cache, key: key, levels: .memory, isOfAlternative: isOfAlternative) : nil
    }

    /// Whether the HTTP cache has it under that very key, or is about to.
    func isServed<Subscriber>(by caching: Job<Subscriber>.Caching?) -> Bool {
        guard let caching, let http = caching.inquiry as? HTTPInquiry, http.cache === cache, http.key == key else {
            return false
        }
        return caching.origin != .network || caching.outcome?.isWritten == true
    }

    /// With what HTTP says of it, where that may be kept, so that the server can be asked whether it is still right.
    func keep(_ original: Original) {
        if original.head?.response.isOfUnknownCaller == true { return }
        if levels.contains(.memory), let image = original.keptImage {
            if let selection = original.selectionBytes(in: cache) { image.keep(for: selection) }
            cache.remember(image, for: key)
        }
        if levels.contains(.disk) { keepOnDisk(original) }
    }

    private func keepOnDisk(_ original: Original) {
        guard cache.serializer == nil, let disk = cache.disk, cache.isOpen else {
            var item = CacheItem(
                key: key, image: original.image, bytes: original.body, extended: nil, levels: .disk)
            item.http = original.selection(in: cache)?.encoded() ?? []
            return cache.store(item, isAwaited: false) { _ in }
        }
        let metadata = EntryMetadata(
            key: key, http: original.known(to: cache, isOfURL: !isOfAlternative),
            format: CacheItem.formatNumber(of: original.body))
        disk.store(metadata, original.body)
    }
}

/// A body that has proved to be a picture, with all that is known of it.
struct Original: Sendable {
    let body: Bytes
    /// Of the body as it is; nil where somebody wanted it in another form.
    let image: Image?
    let head: ResponseHead?
    let request: HTTPRequest
    /// For which request fields it is, where a cache has said it.
    let selection: Bytes?
    /// The application has made it of what the server sent, or has changed the response: HTTP's rules do not
    /// speak of it.
    let isOfApplication: Bool

    /// What is kept with the bytes: what the HTTP cache has of it, or else for which request fields it is.
    fileprivate func known(to cache: ImageCache, isOfURL: Bool) -> [UInt8] {
        (isOfURL ? stored(in: cache)?.encoded() : nil) ?? selection(in: cache)?.encoded() ?? []
    }

    fileprivate func selectionBytes(in cache: ImageCache) -> Bytes? {
        selection ?? selection(in: cache).flatMap { Bytes($0.encoded()) }
    }

    fileprivate func selection(in cache: ImageCache) -> StoredSelection? {
        head.flatMap { cache.selection(varyOf: $0.response, request.headers) }
    }

    /// For memory: the picture as it is stored. Where nobody has wanted that, it is decoded when somebody does. A format of
    /// the application's, which would have to be decoded now, is left out.
    fileprivate var keptImage: Image? {
        let form = PixelForm()
        if let image, image.isAsEncoded, image.bytes != nil, form.isServedReady(by: image.form) { return image }
        guard (try? ImageFacts(of: body.pointer)) != nil else { return nil }
        return try? DecoderSet.ofProcess.decode(body, in: PixelForm(isLazy: true))
    }

    /// As the HTTP cache keeps it; nil if it must not, or there was no HTTP.
    private func stored(in cache: ImageCache) -> StoredResponse? {
        let isHTTP = request.url.scheme == .http || request.url.scheme == .https
        guard let head, isHTTP, !isOfApplication else { return nil }
        let asked = CacheableRequest(request, secret: cache.secret)
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
