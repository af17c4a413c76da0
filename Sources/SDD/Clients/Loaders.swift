internal import CSDD
internal import SDDEngine

/// The loaders behind handles, and the shared one.
enum Loaders {
    /// Returns the loader behind a handle; NULL is the shared loader, which uses the shared cache and downloader.
    static func loader(_ handle: OpaquePointer?, _ place: Place = "loader") throws(Refusal) -> LoaderClient {
        guard let handle else { return try shared().object }
        return try Handle.loaders.object(handle, place)
    }

    static func shared() throws(Refusal) -> (handle: OpaquePointer?, object: LoaderClient) {
        prepareForForks()
        return try Handle.loaders.shared("loader") { () throws(Refusal) in
            _ = try Downloaders.shared("loader")
            var config = sdd_loader_config()
            config.no_cache = (try? Caches.shared()) == nil ? 1 : 0
            return try makeLoader(config)
        }
    }
}

/// Creates a loader from its config.
func makeLoader(_ config: sdd_loader_config) throws(Refusal) -> LoaderClient {
    guard let policy = FailurePolicy(rawValue: config.fail_policy) else {
        throw .number("sdd_loader_config.fail_policy", config.fail_policy, allowed: "one of SDD_FAIL_POLICY_")
    }
    let hasNoCache = try flag(config.no_cache, "sdd_loader_config.no_cache")
    let client = try Downloaders.client(config.downloader, "sdd_loader_config.downloader")
    var caches: LoadCaches?
    if !hasNoCache {
        let images = try Caches.cache(config.cache, "sdd_loader_config.cache")
        let originals =
            config.original_cache == nil
            ? images : try Caches.cache(config.original_cache, "sdd_loader_config.original_cache")
        caches = LoadCaches(images: images, originals: originals)
    }
    let hooks = AppLoadHooks(config)
    let made = LoaderClient(client, caches: caches, policy: policy, hooks: hooks)
    hooks.data.own()
    return made
}
