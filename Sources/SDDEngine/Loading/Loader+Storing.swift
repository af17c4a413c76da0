import SDDCaches
import SDDCoders

/// What came of a load goes to its cache. The bytes of the original are stored by the downloader's table, once for all who
/// share a transfer (`OriginalKeeper`): before any of them hears of its end.
extension Loader {
    /// - Parameter done: called once, when all of it is on disk, or could not be.
    func store(_ load: Load, _ result: DownloadResult, done: @escaping @Sendable () -> Void) {
        guard let store = load.plan.store else { return done() }
        let made = store.isMade && store.levels.contains(.disk)
        if let key = store.key, let image = result.image, !image.isPartial {
            if store.levels.contains(.memory) { store.cache.remember(image, for: key) }
            if made {
                let item = CacheItem(key: key, image: image, bytes: nil, extended: nil, levels: .disk)
                return store.cache.storeOnce(item) { [self] in waitForOriginal(store, done) }
            }
        }
        waitForOriginal(store, done)
    }

    private func waitForOriginal(_ store: LoadPlan.Store, _ done: @escaping @Sendable () -> Void) {
        guard let cache = store.original?.cache, let disk = cache.disk, cache.isOpen else { return done() }
        // Changes are made in their order, and that was asked for before.
        disk.change(done)
    }
}
