package import SDDBase
package import SDDCoders
import SDDTransport

extension MemorySearch {
    /// Searches memory for a simple load, before anything is made that only a download needs. A load is simple if its
    /// only URL needs nothing but the defaults, and no other cache comes first. Thread: the submitting one.
    /// - Parameters:
    ///   - url: for which the downloader has a transport.
    ///   - form: before the options are applied.
    /// - Returns: nil if the load is not simple.
    package static func ahead(
        of url: ImageURL, _ options: RequestOptions, in form: DecodeOptions, _ caches: LoadCaches,
        _ defaults: RequestDefaults
    ) -> MemorySearch? {
        guard options.isSubset(of: .ofSimpleLoads), !defaults.usesHTTPCache, !defaults.changesRequests,
            !url.hasUserinfo, url.scheme != .data, url.scheme != .file
        else { return nil }
        var form = form.isChanged(by: options) ? form.with(options) : form
        form.keepsBytes = form.size == .none
        guard form.isPossible, form.transforms == nil else { return nil }
        let original = caches.images.key(of: url) + caches.images.mark(of: defaults.identity)
        let search = MemorySearch(
            caches.images, original: original, wanted: CacheKeys.key(of: original, as: form), form: form,
            headers: defaults.headers)
        search.searchAhead()
        return search
    }
}

extension RequestOptions {
    /// Options that neither change who asks for an image nor where it is looked for first.
    fileprivate static let ofSimpleLoads: RequestOptions = [
        .lowPriority, .highPriority, .continueInBackground, .resume, .stopWhenComplete, .progressiveLoad,
        .progressEvents, .factsEvents, .scaleDownLargeImages, .avoidDecodeImage, .decodeFirstFrameOnly,
        .preloadAllFrames, .retryFailed, .waitStoreCache,
    ]
}
