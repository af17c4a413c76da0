internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

/// What a C handle stands for. The only file that says `Unmanaged`.
///
/// Downloaders, caches, loaders and batches are numbers, see `HandleRegistry`; images and bytes are counted references.
enum Handle {
    static let clients = HandleRegistry<Client>(.downloader)
    static let caches = HandleRegistry<ImageCache>(.cache)
    static let loaders = HandleRegistry<LoaderClient>(.loader)
    static let batches = HandleRegistry<Batch>(.batch)

    // MARK: Downloaders

    static func downloader(_ handle: OpaquePointer?) throws(Refusal) -> Downloader { try client(handle).downloader }

    /// What a handle stands for; NULL is the shared downloader, made when it is first asked for.
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
            prepareForExit()
            return client
        }
    }

    /// Refuses the shared downloader, and what is none.
    static func ownClient(_ handle: OpaquePointer?) throws(Refusal) -> Client {
        guard let handle else { throw HandleKind.downloader.notShared("downloader") }
        let client = try clients.object(handle, "downloader")
        if clients.isShared(handle) { throw HandleKind.downloader.notShared("downloader") }
        return client
    }

    // MARK: Caches

    /// What a handle stands for; NULL is the shared cache, made when it is first asked for.
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
            prepareForExit()
            return cache
        }
    }

    // MARK: Loaders

    /// What a handle stands for; NULL is the shared loader, over the shared cache and the shared downloader.
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

    /// With one reference, to be given back by `release`.
    static func retained(_ object: AnyObject?) -> OpaquePointer? {
        object.map { OpaquePointer(Unmanaged.passRetained($0).toOpaque()) }
    }

    static func image(_ handle: OpaquePointer?) -> Image? { object(handle) }
    static func bytes(_ handle: OpaquePointer?) -> Bytes? { object(handle) }
    static func response(_ handle: OpaquePointer?) -> Response? { object(handle) }
    static func cookies(_ handle: OpaquePointer?) -> CookieList? { object(handle) }
    static func draft(_ handle: OpaquePointer?) -> RequestDraft? { object(handle) }

    /// The bytes of a reference that the host gives away.
    static func takenOver(_ handle: OpaquePointer?) -> Bytes? {
        handle.map { Unmanaged<Bytes>.fromOpaque(UnsafeRawPointer($0)).takeRetainedValue() }
    }

    /// The same of an image.
    static func takenOverImage(_ handle: OpaquePointer?) -> Image? {
        handle.map { Unmanaged<Image>.fromOpaque(UnsafeRawPointer($0)).takeRetainedValue() }
    }

    // Safety: the header says what a caller may pass: a handle it holds a reference to, or is lent.
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
