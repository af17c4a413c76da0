internal import CSDD
internal import Glibc
internal import SDDBase
internal import SDDCaches
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

/// What a C handle stands for. The only file that says `Unmanaged`.
///
/// A downloader's handle is a number, looked up here, and not an address: one that was destroyed, or that
/// a parent process made, is recognised instead of followed. Images and bytes are counted references.
enum Handle {
    private struct Registry {
        var clients: [UInt: Client] = [:]
        var shared: UInt?
        var caches: [UInt: ImageCache] = [:]
        var sharedCache: UInt?
        /// Those that ran when the process began to exit.
        var ended: [Client] = []
        var last: UInt = 0
    }

    private static let registry = Monitor(Registry())

    // MARK: Forks

    /// Keeps whole across a fork what parent and child both go on with, the registry, the process's coders and the
    /// memory for pixels: nobody is inside while the process is copied, and the child begins with locks of its own. The
    /// locks of dead handles are never taken there.
    private static let forkHandlers: Void = {
        pthread_atfork(
            {
                Handle.registry.lockForFork()
                HostCoderList.process.lockForFork()
                SpareMemory.lockForFork()
                DecodeMemory.ofProcess.lockForFork()
            },
            {
                DecodeMemory.ofProcess.unlockInParent()
                SpareMemory.unlockInParent()
                HostCoderList.process.unlockInParent()
                Handle.registry.unlockInParent()
            },
            {
                DecodeMemory.ofProcess.resetInChild()
                SpareMemory.resetInChild()
                HostCoderList.process.resetInChild()
                Handle.registry.resetInChild()
                ForkGeneration.childBegins()
            })
    }()

    /// For who keeps something of the process's, or asks for memory for pixels, before there is a downloader.
    static func prepareForForks() { forkHandlers }

    // MARK: Exit

    /// Handlers run in the reverse order of their registration: after libcurl's, and with it OpenSSL's, have
    /// been registered, which the first downloader sees to, ours runs before them.
    private static let exitHandler: Void = {
        atexit { Handle.endNetworksForExit() }
    }()

    private static func endNetworksForExit() {
        // Taken out: from now on every handle is dead, and no other thread destroys what is ended here.
        let live = registry.withLock { registry -> [Client] in
            let live = registry.clients.filter { !isForked($0.key) }
            for number in live.keys { registry.clients[number] = nil }
            // But not freed: their other threads may be at work till the very end.
            registry.ended = Array(live.values)
            return registry.ended
        }
        for client in live { client.downloader.endNetworkForExit(milliseconds: 2000) }
        let caches = registry.withLock { registry in registry.caches.filter { !isForked($0.key) }.values }
        for cache in caches { cache.writeForExit(milliseconds: 2000) }
    }

    // MARK: Downloaders

    private static let generationShift = 48

    private static func add(_ client: Client, to registry: inout Registry) -> UInt {
        registry.last += 1
        let number = ForkGeneration.current << generationShift | registry.last << 4
        registry.clients[number] = client
        return number
    }

    private static func isForked(_ number: UInt) -> Bool {
        number >> generationShift != ForkGeneration.current
    }

    static func add(_ make: () throws(Refusal) -> Client) throws(Refusal) -> OpaquePointer? {
        forkHandlers
        let client = try make()
        exitHandler
        return OpaquePointer(bitPattern: registry.withLock { add(client, to: &$0) })
    }

    static func downloader(_ handle: OpaquePointer?) throws(Refusal) -> Downloader { try client(handle).downloader }

    /// What a handle stands for; NULL is the shared downloader, made when it is first asked for.
    static func client(_ handle: OpaquePointer?) throws(Refusal) -> Client {
        guard let handle else { return try sharedEntry().client }
        let number = UInt(bitPattern: handle)
        if isForked(number) { throw Refusal(SDD_ERROR_FORKED) }
        guard let client = registry.withLock({ $0.clients[number] }) else {
            throw Refusal(SDD_ERROR_CLOSED)
        }
        return client
    }

    static func shared() throws(Refusal) -> OpaquePointer? {
        OpaquePointer(bitPattern: try sharedEntry().number)
    }

    private static func sharedEntry() throws(Refusal) -> (number: UInt, client: Client) {
        forkHandlers
        return try registry.withLock { registry throws(Refusal) in
            if let number = registry.shared {
                if isForked(number) { throw Refusal(SDD_ERROR_FORKED) }
                guard let client = registry.clients[number] else { throw Refusal(SDD_ERROR_CLOSED) }
                return (number, client)
            }
            let client = try makeClient(sdd_downloader_config())
            exitHandler
            let number = add(client, to: &registry)
            registry.shared = number
            return (number, client)
        }
    }

    /// Refuses the shared downloader, and what is none.
    static func ownClient(_ handle: OpaquePointer?) throws(Refusal) -> Client {
        guard let handle else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        let client = try client(handle)
        let isShared = registry.withLock { $0.shared == UInt(bitPattern: handle) }
        if isShared { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        return client
    }

    /// Makes a handle dead; what it stood for goes to the caller.
    static func remove(_ handle: OpaquePointer?) throws(Refusal) -> Client {
        guard let handle else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        let number = UInt(bitPattern: handle)
        if isForked(number) { throw Refusal(SDD_ERROR_FORKED) }
        return try registry.withLock { registry throws(Refusal) in
            if registry.shared == number { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
            guard let client = registry.clients.removeValue(forKey: number) else { throw Refusal(SDD_ERROR_CLOSED) }
            return client
        }
    }

    // MARK: Caches

    static func add(_ cache: ImageCache) -> OpaquePointer? {
        OpaquePointer(bitPattern: registry.withLock { add(cache, to: &$0) })
    }

    private static func add(_ cache: ImageCache, to registry: inout Registry) -> UInt {
        registry.last += 1
        let number = ForkGeneration.current << generationShift | registry.last << 4
        registry.caches[number] = cache
        exitHandler
        return number
    }

    /// What a handle stands for; NULL is the shared cache, made when it is first asked for.
    static func cache(_ handle: OpaquePointer?) throws(Refusal) -> ImageCache {
        guard let handle else { return try sharedCacheEntry().cache }
        let number = UInt(bitPattern: handle)
        if isForked(number) { throw Refusal(SDD_ERROR_FORKED) }
        guard let cache = registry.withLock({ $0.caches[number] }) else { throw Refusal(SDD_ERROR_CLOSED) }
        return cache
    }

    static func sharedCache() throws(Refusal) -> OpaquePointer? {
        OpaquePointer(bitPattern: try sharedCacheEntry().number)
    }

    private static func sharedCacheEntry() throws(Refusal) -> (number: UInt, cache: ImageCache) {
        forkHandlers
        return try registry.withLock { registry throws(Refusal) in
            if let number = registry.sharedCache {
                if isForked(number) { throw Refusal(SDD_ERROR_FORKED) }
                guard let cache = registry.caches[number] else { throw Refusal(SDD_ERROR_CLOSED) }
                return (number, cache)
            }
            let cache = try makeSharedCache()
            let number = add(cache, to: &registry)
            registry.sharedCache = number
            return (number, cache)
        }
    }

    /// Makes a handle dead; what it stood for goes to the caller.
    static func removeCache(_ handle: OpaquePointer?) throws(Refusal) -> ImageCache {
        guard let handle else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        let number = UInt(bitPattern: handle)
        if isForked(number) { throw Refusal(SDD_ERROR_FORKED) }
        return try registry.withLock { registry throws(Refusal) in
            if registry.sharedCache == number { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
            guard let cache = registry.caches[number] else { throw Refusal(SDD_ERROR_CLOSED) }
            if cache.isOwnThread { throw Refusal(SDD_ERROR_WOULD_DEADLOCK) }
            registry.caches[number] = nil
            return cache
        }
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
