import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport

/// The destination of a load's encoded original: a cache, its levels, and a key. Immutable and thread-safe.
package final class OriginalKeeper: Sendable {
    let cache: ImageCache
    let key: String
    let levels: CacheLevels
    /// The original comes from another URL than the key's. Its HTTP metadata is not kept, so that the HTTP cache never
    /// answers for the key's URL with it.
    private let isOfAlternative: Bool

    package init(_ cache: ImageCache, key: String, levels: CacheLevels = .disk, isOfAlternative: Bool = false) {
        self.cache = cache
        self.key = key
        self.levels = levels
        self.isOfAlternative = isOfAlternative
    }

    /// A copy for an original that comes from an alternative URL of a load.
    var ofAlternative: OriginalKeeper { OriginalKeeper(cache, key: key, levels: levels, isOfAlternative: true) }

    func isSame(as other: OriginalKeeper) -> Bool {
        cache === other.cache && key.hasSameBytes(as: other.key) && levels == other.levels
            && isOfAlternative == other.isOfAlternative
    }

    /// Whether this keeper puts the original on disk under the same cache and key as `other`.
    func isOnDiskLike(_ other: OriginalKeeper) -> Bool {
        levels.contains(.disk) && cache === other.cache && key.hasSameBytes(as: other.key)
    }

    /// A copy for the memory level only; `nil` if the keeper does not use memory.
    var forMemory: OriginalKeeper? {
        levels.contains(.memory)
            ? OriginalKeeper(cache, key: key, levels: .memory, isOfAlternative: isOfAlternative) : nil
    }

    /// Stores the original, with its HTTP metadata where that may be kept, so that it can be revalidated later.
    /// - Parameter registry: decodes the image in memory once its pixels are needed.
    func keep(_ original: Original, decodedBy registry: CoderRegistry = .ofProcess) {
        if original.head?.response.isOfUnknownCaller == true { return }
        if levels.contains(.memory), let image = original.keptImage(registry) {
            if let selection = original.selectionBytes(in: cache) { image.keep(for: selection) }
            cache.storeInMemory(image, for: key)
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

/// A body that has proved to be an image, with all that is known of it.
struct Original: Sendable {
    let body: Bytes
    /// The image decoded from the body as it is; `nil` if only other forms were wanted.
    let image: Image?
    let head: ResponseHead?
    let request: HTTPRequest
    /// The request fields it was selected by, if a cache told them.
    let selection: Bytes?
    /// The application has made the body or changed the response: HTTP's rules do not apply to it.
    let isOfApplication: Bool

    /// Returns the metadata to store with the bytes: that of the HTTP cache, or else the request fields it was selected
    /// by.
    fileprivate func known(to cache: ImageCache, isOfURL: Bool) -> [UInt8] {
        (isOfURL ? stored(in: cache)?.encoded() : nil) ?? selection(in: cache)?.encoded() ?? []
    }

    fileprivate func selectionBytes(in cache: ImageCache) -> Bytes? {
        selection ?? selection(in: cache).flatMap { Bytes($0.encoded()) }
    }

    fileprivate func selection(in cache: ImageCache) -> StoredSelection? {
        head.flatMap { cache.selection(varyOf: $0.response, request.headers) }
    }

    /// The image in its stored form, for memory. If no request has wanted that form, the image is decoded lazily.
    /// Formats of the application's decoders, which would have to be decoded now, are left out.
    fileprivate func keptImage(_ registry: CoderRegistry) -> Image? {
        let form = DecodeOptions().coloured(forLoad: true)
        if let image, image.isAsEncoded, image.bytes != nil, image.serves(form) { return image }
        guard (try? ImageFacts(of: body.pointer)) != nil else { return nil }
        return try? DecoderSet(registry: registry).decode(body, in: DecodeOptions(isLazy: true).coloured(forLoad: true))
    }

    /// Returns the response as the HTTP cache stores it; `nil` if it must not be stored, or is not from HTTP.
    private func stored(in cache: ImageCache) -> StoredResponse? {
        guard let head, request.scheme.isHTTP, !isOfApplication else { return nil }
        let asked = CacheableRequest(request, secret: cache.secret)
        return head.stored(for: asked)
    }
}
