package import SDDBase
package import SDDCaches
package import SDDCoders
import SDDTransport

/// A cache lookup made before a request goes to the network, or in place of it. Immutable; one lookup may serve all
/// requests whose lookups are equal.
package protocol CacheLookup: AnyObject, Sendable {
    /// Hash key: the same for equal lookups, and mostly different for others.
    var hashKey: UInt64 { get }
    func isSame(as other: any CacheLookup) -> Bool
    /// Looks in the cache. Called with no lock held.
    /// - Parameter answer: called once, before this returns or later on a disk thread.
    func start(_ context: LookupContext, answer: @escaping @Sendable (LookupResult) -> Void)
    /// Makes the reads for a wish more urgent. Called with no lock held.
    func raise(_ wish: DiskRead, to priority: Priority)
    /// Whether the network's response would do as well: requests with and without this lookup may share a running
    /// transfer.
    var isOptional: Bool { get }
}

extension CacheLookup {
    package var isOptional: Bool { false }
    package func raise(_ wish: DiskRead, to priority: Priority) {}
}

package struct LookupContext: Sendable {
    /// True if the network must not be used: only the cache can answer.
    package let isOffline: Bool
    /// True if the stored response has turned out to be no picture, and counts as none.
    var distrustsStored = false
    /// The saver of the previous attempt; its writes must be done before the lookup.
    var after: PartSaver?
    /// The job's wish to read entries, which is withdrawn if the job ends before it has an answer.
    var wish: DiskRead?
    /// The stores of the same downloader that are to be made before the lookup: all that were decided until then.
    var stores: StoreProgress?
}

/// The outcome of a cache lookup.
package enum LookupResult: Sendable {
    case found(CacheHit)
    /// No usable entry: go to the network, with the exchange's conditions, and let it store the response.
    case network(Revalidation?)
    /// No usable entry so far. Once the request's turn comes, this asks for the claim to download; not earlier, so that
    /// a queued request keeps no other process from downloading.
    case turn(HTTPLookupJob)
    /// The request's turn has come, but another process downloads the same URL: this looks for the entry that it
    /// stores.
    case busy(HTTPLookupJob)
    /// The lookup's work is done, and there is no result to hand out.
    case done
    case failed(DownloadError)
}

extension LookupResult {
    /// The result for a job with handlers that made another lookup, or none: an entry under one key answers neither a
    /// request for another key nor one without a cache. The network answers all of them.
    var forAll: LookupResult {
        switch self {
        case .found, .busy: .network(nil)
        case .network, .turn, .done, .failed: self
        }
    }
}

/// The content of a cache for a request. A class, because a hit is passed on often.
package final class CacheHit: @unchecked Sendable {
    // Safety: changed only by the lookup that has made it, before the lookup hands it on.

    /// The encoded bytes; `nil` if only pixels are known.
    package let body: Bytes?
    /// The body is that of the wanted form, already sized and transformed before it was encoded: it is only decoded.
    var isMade = false
    /// The body is the original, from which the image in its form is still to be made.
    var isOfOriginal = false
    /// Decoded pixels; `nil` if the body is to be decoded.
    var image: Image?
    /// The response of an HTTP cache that this is the body of.
    var response: CachedResponse?
    package internal(set) var origin: DownloadResult.Origin
    package internal(set) var extended: Bytes?
    /// The encoded bytes are handed out. Otherwise they only serve to make the image, and the result has the image's own
    /// bytes, wherever it comes from.
    var handsOutBytes = true
    /// The cache that gets the pixels once they are decoded.
    var keeper: PictureKeeper?
    /// The request fields it was selected by, as in `Image.keptFor`; `nil` if it serves all requests.
    var selection: Bytes?

    init(
        body: Bytes? = nil, image: Image? = nil, response: CachedResponse? = nil, origin: DownloadResult.Origin
    ) {
        self.body = body
        self.image = image
        self.response = response
        self.origin = origin
    }
}

/// A response found in an HTTP cache, or made from a data: URL.
final class CachedResponse: Sendable {
    let head: ResponseHead
    /// The background revalidation to start, if the response is served stale (RFC 5861 §3).
    let revalidation: HTTPCacheLookup?

    init(_ head: ResponseHead, revalidation: HTTPCacheLookup? = nil) {
        self.head = head
        self.revalidation = revalidation
    }
}

extension CacheHit {
    /// Returns the image, decoding it on the calling thread if needed, and passes it to the keeper.
    package func picture(
        in form: DecodeOptions, by registry: CoderRegistry = .ofProcess
    ) throws(CoderError) -> Image {
        if let image { return image }
        guard let body else { throw CoderError(.empty) }
        SpareMemory.teachMalloc()
        let image = try DecoderSet(registry: registry).decode(body, in: form, isMade: isMade)
        if let selection { image.keep(for: selection) }
        keeper?.keep(image)
        return image
    }

    /// Makes the result of a request that ends with this content.
    /// - Parameter wantsBytes: whether the bytes and the application's data are handed out.
    func result(_ image: Image?, wantsBytes: Bool = true, at now: Int64) -> DownloadResult {
        var metrics = DownloadMetrics()
        metrics.bodyBytes = Int64(body?.count ?? 0)
        return DownloadResult(
            image: image, bytes: wantsBytes ? body : nil, response: response?.head.response, origin: origin,
            isOfOriginal: isOfOriginal, extended: wantsBytes ? extended : nil, metrics: metrics, ended: now)
    }
}

/// The memory cache and key for an image that is decoded from a disk entry.
package struct PictureKeeper: Sendable {
    let cache: ImageCache
    let key: String

    func keep(_ image: Image) { cache.storeInMemory(image, for: key) }

    /// Keeps an image that was just downloaded, with the request fields that it was selected by.
    func keep(_ image: Image, of response: Response?, askedWith headers: HTTPFields) {
        if image.keptFor == nil, let response, let selection = cache.selection(varyOf: response, headers),
            let bytes = Bytes(selection.encoded())
        {
            image.keep(for: bytes)
        }
        keep(image)
    }
}
