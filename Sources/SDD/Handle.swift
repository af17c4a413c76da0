internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

/// The objects behind C handles. No other file resolves them with `Unmanaged`.
///
/// Handles of downloaders, caches, loaders and batches are ids, see `HandleRegistry`; those of images, bytes and other
/// objects are counted references.
enum Handle {
    static let clients = HandleRegistry<Client>(.downloader)
    static let caches = HandleRegistry<ImageCache>(.cache)
    static let loaders = HandleRegistry<LoaderClient>(.loader)
    static let batches = HandleRegistry<Batch>(.batch)

    // MARK: Downloaders

    static func downloader(_ handle: OpaquePointer?) throws(Refusal) -> Downloader { try client(handle).downloader }

    /// Returns the downloader behind a handle; NULL is the shared downloader, created on first use.
    static func client(_ handle: OpaquePointer?, _ place: Place = "downloader") throws(Refusal) -> Client {
        guard let handle else { return try sharedClient(place).object }
        return try clients.object(handle, place)
    }

    static func sharedClient(
        _ place: Place = "downloader"
    ) throws(Refusal) -> (handle: OpaquePointer?, object: Client) {
        prepareForForks()
        return try clients.shared(place) { () throws(Refusal) in
            let client = try makeClient(sdd_downloader_config())
            endNetworksAtExit()
            return client
        }
    }

    /// Returns the downloader behind a handle. Refuses the shared downloader and invalid handles.
    static func ownClient(_ handle: OpaquePointer?) throws(Refusal) -> Client {
        guard let handle else { throw HandleKind.downloader.notShared("downloader") }
        let client = try clients.object(handle, "downloader")
        if clients.isShared(handle) { throw HandleKind.downloader.notShared("downloader") }
        return client
    }

    // MARK: Caches

    /// Returns the cache behind a handle; NULL is the shared cache, created on first use.
    static func cache(_ handle: OpaquePointer?, _ place: Place = "cache") throws(Refusal) -> ImageCache {
        guard let handle else { return try sharedCache(place).object }
        return try caches.object(handle, place)
    }

    static func sharedCache(
        _ place: Place = "cache"
    ) throws(Refusal) -> (handle: OpaquePointer?, object: ImageCache) {
        prepareForForks()
        return try caches.shared(place) { () throws(Refusal) in
            let cache = try makeSharedCache()
            writeCachesAtExit()
            return cache
        }
    }

    // MARK: Loaders

    /// Returns the loader behind a handle; NULL is the shared loader, which uses the shared cache and downloader.
    static func loader(_ handle: OpaquePointer?, _ place: Place = "loader") throws(Refusal) -> LoaderClient {
        guard let handle else { return try sharedLoader().object }
        return try loaders.object(handle, place)
    }

    static func sharedLoader() throws(Refusal) -> (handle: OpaquePointer?, object: LoaderClient) {
        prepareForForks()
        return try loaders.shared("loader") { () throws(Refusal) in
            _ = try sharedClient("loader")
            var config = sdd_loader_config()
            config.no_cache = (try? sharedCache()) == nil ? 1 : 0
            return try makeLoader(config)
        }
    }

    // MARK: Batches

    static func batch(_ handle: OpaquePointer?) throws(Refusal) -> Batch {
        guard let handle else { throw .null("batch") }
        return try batches.object(handle, "batch")
    }

    // MARK: Counted objects

    static func borrowed(_ object: AnyObject?) -> OpaquePointer? {
        object.map { OpaquePointer(Unmanaged.passUnretained($0).toOpaque()) }
    }

    /// Returns a handle with a new reference, which must be released with `release`.
    static func retained(_ object: AnyObject?) -> OpaquePointer? {
        object.map { OpaquePointer(Unmanaged.passRetained($0).toOpaque()) }
    }

    static func image(_ handle: OpaquePointer?) -> Image? { object(handle) }
    static func bytes(_ handle: OpaquePointer?) -> Bytes? { object(handle) }
    static func response(_ handle: OpaquePointer?) -> Response? { object(handle) }
    static func cookies(_ handle: OpaquePointer?) -> CookieList? { object(handle) }
    static func draft(_ handle: OpaquePointer?) -> LentDraft? { object(handle) }

    /// Takes over a reference to bytes that the application passes to the library.
    static func takenOver(_ handle: OpaquePointer?) -> Bytes? {
        handle.map { Unmanaged<Bytes>.fromOpaque(UnsafeRawPointer($0)).takeRetainedValue() }
    }

    /// Takes over a reference to an image that the application passes to the library.
    static func takenOverImage(_ handle: OpaquePointer?) -> Image? {
        handle.map { Unmanaged<Image>.fromOpaque(UnsafeRawPointer($0)).takeRetainedValue() }
    }

    // Safety: the library's header requires that the caller holds or borrows a reference to the object.
    private static func object<Object: AnyObject>(_ handle: OpaquePointer?) -> Object? {
        handle.map { Unmanaged<Object>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
    }

    static func retain(_ handle: OpaquePointer?) {
        if let handle { _ = Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(handle)).retain() }
    }

    static func release(_ handle: OpaquePointer?) {
        if let handle { Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(handle)).release() }
    }
}
