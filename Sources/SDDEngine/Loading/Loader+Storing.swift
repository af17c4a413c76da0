import SDDCaches
import SDDCoders
import SDDBase

/// Storing of a load's result on disk. The bytes of the original are stored by the downloader's table, once for all
/// loads that share a transfer (`OriginalKeeper`), before any of them is told of its end; before that, it has put the
/// image into memory (`DownloadRequest.pixelKeeper`).
extension Loader {
    /// Stores the result of a load.
    /// - Parameters:
    ///   - waits: the load ends only when the result is stored.
    ///   - done: called once, when all of it is on disk, or with the error if not all could be stored.
    func store(
        _ load: Load, _ result: DownloadResult, waits: Bool, done: @escaping @Sendable (DownloadError?) -> Void
    ) {
        guard let store = load.plan.store else { return waitForHTTPCache(load, done) }
        guard !result.isEndUnproven, mayStore(result, of: load) else { return done(nil) }
        if store.isMade, store.levels.contains(.disk), let key = store.key, let image = result.image, !image.isPartial {
            if isOnDiskAsOriginal(image, result, load, store) {
                // An earlier picture of the URL may have been larger, and is not to be found any more.
                if !result.isOfOriginal { store.cache.disk?.remove(key) }
                return waitForOriginal(store, waits: waits, done)
            }
            // A scaled animation would be stored as a still picture. It is made of its original again.
            if image.animation == nil || image.isAsEncoded {
                let selection = selection(of: image, result, for: load, in: store.cache)
                var item = CacheItem(
                    key: key, image: image, bytes: image.isAsEncoded ? result.bytes : nil, extended: nil, levels: .disk)
                item.http = selection
                return store.cache.storeOnce(item, isAwaited: waits) { [self] error in
                    waitForOriginal(store, waits: waits) { done(error ?? $0) }
                }
            }
        }
        waitForOriginal(store, waits: waits, done)
    }

    /// Whether the form has changed nothing of the picture, so that its original, which is stored, serves as well.
    private func isOnDiskAsOriginal(
        _ image: Image, _ result: DownloadResult, _ load: Load, _ store: LoadPlan.Store
    ) -> Bool {
        // A transfer that has stopped early has no bytes, and leaves no original.
        guard image.isAsEncoded, result.bytes != nil, store.cache.serializer == nil, let original = store.original
        else { return false }
        return original.levels.contains(.disk) && load.plan.lookup?.takesOriginals != false
    }

    /// Whether the result may be stored under the load's key. It may not if cookies were sent that the request did not
    /// know of, or if it is from an alternative source that identifies the caller differently: other callers would find
    /// it there.
    private func mayStore(_ result: DownloadResult, of load: Load) -> Bool {
        let sources = load.plan.sources
        guard result.response?.isOfUnknownCaller != true, load.source < sources.count else { return false }
        return load.source == 0 || sources[load.source].caller == sources[0].caller
    }

    /// Returns the request fields that an image was selected by, encoded for an entry, and sets them on the image.
    private func selection(
        of image: Image, _ result: DownloadResult, for load: Load, in cache: ImageCache
    ) -> [UInt8] {
        if let known = image.keptFor { return unsafe Array(known.pointer) }
        let headers = load.plan.sources[load.source].asker.headers
        let response = result.response?.asGiven
        guard let response, let made = cache.selection(varyOf: response, headers) else { return [] }
        let encoded = made.encoded()
        if let bytes = Bytes(encoded) { image.keep(for: bytes) }
        return encoded
    }

    /// Waits for what the HTTP cache has stored of a load that is left to it.
    private func waitForHTTPCache(_ load: Load, _ done: @escaping @Sendable (DownloadError?) -> Void) {
        guard case .success(let request) = load.plan.sources[load.source].request,
            let lookup = request.lookup as? HTTPCacheLookup, let disk = lookup.cache.disk, lookup.cache.isOpen
        else { return done(nil) }
        wait(for: lookup.key, on: disk, done)
    }

    private func waitForOriginal(
        _ store: LoadPlan.Store, waits: Bool, _ done: @escaping @Sendable (DownloadError?) -> Void
    ) {
        guard waits, let original = store.original, original.levels.contains(.disk),
            let disk = original.cache.disk, original.cache.isOpen
        else { return done(nil) }
        wait(for: original.key, on: disk, done)
    }

    /// Waits for an entry. Changes are made in order, and its write was queued before this.
    private func wait(
        for key: String, on disk: DiskCache, _ done: @escaping @Sendable (DownloadError?) -> Void
    ) {
        disk.change(isAwaited: true) { done(disk.failure(ofStoring: key).map { DownloadError($0) }) }
    }
}
