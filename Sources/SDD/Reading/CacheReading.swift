internal import CSDD
internal import CSystem
internal import Glibc
internal import SDDBase
internal import SDDCaches
internal import SDDCoders
internal import SDDEngine

// Reading the structs of the cache API.

/// The longest cache key, in bytes.
private let longestKey = 65_536

/// Returns a cache key, which must be UTF-8 and not empty.
func cacheKey(_ string: UnsafePointer<CChar>?, _ place: Place) throws(Refusal) -> String {
    guard let bytes = bytes(of: string, limit: longestKey) else { throw .null(place) }
    guard !bytes.isEmpty, bytes.count <= longestKey, let key = String(validating: bytes, as: UTF8.self) else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, place,
            "\(shownURL(string)) is no key: it must be UTF-8 of 1 to \(longestKey) bytes")
    }
    return key
}

/// Returns a key as messages show it: without possible secrets, like a URL, since most keys are URLs.
func shownKey(_ key: String) -> String { key.withCString { shownURL($0) } }

func cacheLevels(_ given: Int32, _ place: Place) throws(Refusal) -> CacheLevels {
    try choice(
        given, place, "SDD_CACHE_",
        [SDD_CACHE_DEFAULT: .all, SDD_CACHE_MEMORY: .memory, SDD_CACHE_DISK: .disk, SDD_CACHE_ALL: .all])
}

// MARK: - Configurations

/// Creates a cache from its config and starts its threads.
func makeCache(_ config: sdd_cache_config) throws(Refusal) -> ImageCache {
    var failure: CacheError?
    do throws(Refusal) {
        return try makeCache(config, failure: &failure)
    } catch {
        guard let failure else { throw error }
        let detail: DownloadError.Detail =
            switch failure {
            case .unsafeDirectory: .cacheUnsafe
            case .foreignFile: .cacheForeign
            default: .cacheDirectory
            }
        var told = DownloadError(.cache, detail, error.sentence)
        told.systemError = DownloadError(failure).systemError
        throw Refusal(told)
    }
}

/// - Parameter failure: set if the directory cannot be used.
func makeCache(_ config: sdd_cache_config, failure: inout CacheError?) throws(Refusal) -> ImageCache {
    let levels = try cacheLevels(config.levels, "sdd_cache_config.levels")
    let limits = try memoryLimits(config)
    // Stores of levels that the cache has not are read as well: it owns their data, and frees it.
    let (memoryStore, entryStore) = (try appMemoryStore(config.memory_store), try appEntryStore(config.entry_store))
    let images = levels.contains(.memory) ? memoryStore : nil
    let memory = levels.contains(.memory) && images == nil ? MemoryCache(limits: limits) : nil
    let filter = try parameters(config.ignored_query_parameters, "sdd_cache_config.ignored_query_parameters")
    let longestWait = try orNone(config.share_wait_ms, "sdd_cache_config.share_wait_ms", default: 30_000)
    let isAlone = try flag(config.no_share_wait, "sdd_cache_config.no_share_wait")
    let wait = isAlone ? nil : longestWait ?? longestLimit
    let watches = try flag(config.watch_memory_pressure, "sdd_cache_config.watch_memory_pressure")
    let closeLimit = try orNone(config.destroy_timeout_ms, "sdd_cache_config.destroy_timeout_ms", default: 10_000)
    let counters = CacheCounters()
    let disk = levels.contains(.disk) ? try openDisk(config, entryStore, counters, &failure) : nil
    let data = AppData(config.user_data, free: config.user_data_free)
    let cache = ImageCache(
        memory: memory, images: images, disk: disk, counters: counters,
        keyMaker: keyMaker(filter, config.key_filter, data),
        serializer: serializer(config.serializer, data), shareWait: wait.map { $0 * 1000 }, closeLimit: closeLimit,
        keeping: data)
    if watches { cache.watchPressure() }
    data.own()
    memoryStore?.own()
    entryStore?.own()
    return cache
}

private func appMemoryStore(_ given: UnsafePointer<sdd_memory_store>?) throws(Refusal) -> AppMemoryStore? {
    guard given != nil else { return nil }
    return try AppMemoryStore(read(given, "sdd_cache_config.memory_store"))
}

private func appEntryStore(_ given: UnsafePointer<sdd_entry_store>?) throws(Refusal) -> AppEntryStore? {
    guard given != nil else { return nil }
    return try AppEntryStore(read(given, "sdd_cache_config.entry_store"))
}

private func memoryLimits(_ config: sdd_cache_config) throws(Refusal) -> MemoryLimits {
    var limits = try memoryLimits(
        cost: config.max_memory_cost, "sdd_cache_config.max_memory_cost",
        count: config.max_memory_count, "sdd_cache_config.max_memory_count")
    limits.findsLive = try !flag(config.no_live_images, "sdd_cache_config.no_live_images")
    return limits
}

func memoryLimits(
    cost: Int64, _ costPlace: Place, count: Int64, _ countPlace: Place
) throws(Refusal) -> MemoryLimits {
    var limits = MemoryLimits.standard
    limits.cost = try orNone(cost, costPlace, default: Int64(limits.cost)).map { Int($0) } ?? .max
    limits.count = Int(try orNone(count, countPlace, default: Int64.max, most: Int64.max) ?? .max)
    return limits
}

/// Reads a limit: -1 means none (`nil`), 0 means the default.
private func orNone(
    _ given: Int64, _ place: Place, default standard: Int64, most: Int64 = 1 << 46
) throws(Refusal) -> Int64? {
    if given == -1 { return nil }
    guard given >= 0, given <= most else {
        throw .number(place, given, allowed: most == Int64.max ? "at least -1" : "-1 to \(most)")
    }
    return given == 0 ? standard : given
}

// MARK: - The disk

private func openDisk(
    _ config: sdd_cache_config, _ entries: AppEntryStore?, _ counters: CacheCounters, _ failure: inout CacheError?
) throws(Refusal) -> DiskCache {
    var options = DiskOptions(directory: try directory(config, &failure))
    options.secondaryDirectories = try list(
        config.read_only_directories, "sdd_cache_config.read_only_directories",
        count: config.read_only_count, "sdd_cache_config.read_only_count")
    options.limits = try diskLimits(config)
    let map = try number(config.map_from_bytes, "sdd_cache_config.map_from_bytes", default: 0, most: 1 << 46)
    options.mapFrom = map == 0 ? nil : Int(map)
    options.sync = try choice(
        config.sync, "sdd_cache_config.sync", "SDD_SYNC_",
        [SDD_SYNC_NONE: .none, SDD_SYNC_DATA: .data, SDD_SYNC_FULL: .full])
    let interval = try orNone(config.trim_interval_ms, "sdd_cache_config.trim_interval_ms", default: 10 * 60_000)
    let most = try orNone(config.max_queued_bytes, "sdd_cache_config.max_queued_bytes", default: 128 << 20)
    let store: DiskStore
    do throws(CacheError) {
        store = try DiskStore(options: options, entries: entries)
    } catch {
        failure = error
        throw Refusal(
            SDD_ERROR_CACHE, "sdd_cache_config.directory", "\(shown(options.directory)): \(words(error))")
    }
    do throws(SystemError) {
        return try DiskCache.make(
            store, counters: counters, trimInterval: interval.map { $0 * 1000 },
            mostHeldBytes: most.map { Int($0) } ?? .max)
    } catch {
        throw Refusal(SDD_ERROR_NO_RESOURCES, "the system gave no thread for the disk level")
    }
}

func words(_ error: CacheError) -> String {
    switch error {
    case .system(let operation, let errno): "\(operation.rawValue) failed: \(systemWords(errno))"
    case .unsafeDirectory: "it is no directory, belongs to another user, or its group or others may write to it"
    case .foreignFile(let name):
        "it is not that of a cache: \(shown(name)) is a file of another program, and would be removed as an entry"
    case .tooLarge, .noMemory, .nothing, .dropped, .store: "it cannot be used"
    }
}

/// Returns the directory of a cache. XDG Base Directory Specification 0.8: relative paths are ignored.
private func directory(_ config: sdd_cache_config, _ failure: inout CacheError?) throws(Refusal) -> String {
    let name = try text(config.name, "sdd_cache_config.name") ?? "default"
    guard !name.utf8.contains(UInt8(ascii: "/")), name != ".", name != "..", name.utf8.count <= 255 else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, "sdd_cache_config.name",
            "\(shown(name)) is no name of a folder: at most 255 bytes without \"/\", and not \".\" or \"..\"")
    }
    if let directory = try path(config.directory, "sdd_cache_config.directory") { return lasting(directory) }
    // A set-user-ID program must not write where its caller says.
    if let base = absolute(sddsys_secure_variable("XDG_CACHE_HOME")) { return base + "/sdd/" + name }
    if let home = absolute(sddsys_secure_variable("HOME")) { return home + "/.cache/sdd/" + name }
    failure = .system(.open, errno: ENOENT)
    throw Refusal(
        SDD_ERROR_CACHE, "sdd_cache_config.directory",
        "NULL needs XDG_CACHE_HOME or HOME in the environment, with an absolute path")
}

/// Returns a path that means the same after chdir(2).
private func lasting(_ path: String) -> String {
    guard let first = path.utf8.first, first != UInt8(ascii: "/"), let bytes = getcwd(nil, 0) else { return path }
    defer { free(bytes) }
    return String(validatingCString: bytes).map { $0 + "/" + path } ?? path
}

private func absolute(_ text: UnsafePointer<CChar>?) -> String? {
    guard let text, text.pointee == CChar(UInt8(ascii: "/")) else { return nil }
    return headerValue(text)
}

private func diskLimits(_ config: sdd_cache_config) throws(Refusal) -> DiskLimits {
    var limits = try diskLimits(
        bytes: config.max_disk_bytes, "sdd_cache_config.max_disk_bytes",
        age: config.max_disk_age_ms, "sdd_cache_config.max_disk_age_ms", keeping: DiskLimits())
    limits.dates = try choice(
        config.disk_date, "sdd_cache_config.disk_date", "SDD_DATE_",
        [SDD_DATE_ACCESS: .used, SDD_DATE_MODIFICATION: .stored])
    limits.lowWaterPercent = Int64(
        try number(config.low_water_percent, "sdd_cache_config.low_water_percent", default: 50, most: 100))
    let interval = try orNone(config.trim_interval_ms, "sdd_cache_config.trim_interval_ms", default: 10 * 60_000)
    limits.trimInterval = interval.map { $0 * 1000 } ?? .max
    let partBytes = try orNone(config.max_part_bytes, "sdd_cache_config.max_part_bytes", default: 256 << 20)
    limits.maxPartBytes = partBytes ?? .max
    let partAge = try orNone(config.max_part_age_ms, "sdd_cache_config.max_part_age_ms", default: 86_400_000)
    limits.maxPartAge = partAge.map { $0 * 1000 } ?? .max
    return limits
}

func diskLimits(
    bytes: Int64, _ bytesPlace: Place, age: Int64, _ agePlace: Place, keeping others: DiskLimits
) throws(Refusal) -> DiskLimits {
    var limits = others
    limits.maxBytes = try orNone(bytes, bytesPlace, default: 512 << 20)
    limits.maxAge = try orNone(age, agePlace, default: 7 * 86_400_000).map { $0 * 1000 }
    return limits
}

// MARK: - The application's functions

/// Parses a list of query parameter names, such as "token,Expires,X-Amz-*".
private func parameters(_ given: UnsafePointer<CChar>?, _ place: Place) throws(Refusal) -> KeyFilter? {
    guard let text = try text(given, place) else { return nil }
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map { name in
        String(name.drop { $0 == " " })
    }
    guard names.allSatisfy({ !$0.isEmpty && $0 != "*" }) else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, place,
            "\(shown(text)) is no list of names, such as \"token,X-Amz-*\", each with more than a \"*\"")
    }
    return KeyFilter(dropping: names)
}

private func keyMaker(
    _ filter: KeyFilter?, _ function: sdd_cache_key_fn?, _ data: AppData
) -> ImageCache.KeyMaker? {
    if filter == nil && function == nil { return nil }
    return { url in
        let key = filter?.key(of: url) ?? url
        guard let function else { return key }
        let made = key.withCString { Handle.takenOver(function($0, data.pointer)) }
        guard let bytes = made?.pointer, !bytes.isEmpty, bytes.count <= longestKey,
            let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0)
        else { return key }
        return text
    }
}

private func serializer(_ function: sdd_cache_serializer_fn?, _ data: AppData) -> ImageCache.Serializer? {
    guard let function else { return nil }
    return { image, bytes, key in
        withExtendedLifetime((image, bytes)) {
            key.withCString {
                Handle.takenOver(function(Handle.borrowed(image), Handle.borrowed(bytes), $0, data.pointer))
            }
        }
    }
}

// MARK: - Items and queries

func cacheItem(_ given: sdd_cache_item) throws(Refusal) -> CacheItem {
    let (image, bytes) = (Handle.image(given.image), Handle.bytes(given.bytes))
    // Its rows that are missing could not be told from good ones once it has been encoded.
    if let image, image.isPreview || image.isPartial {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, "sdd_cache_item.image",
            "\(image.isPreview ? "a preview" : "an image of which rows are missing") is not stored")
    }
    return CacheItem(
        key: try cacheKey(given.key, "sdd_cache_item.key"), image: try image.map(keepable), bytes: bytes,
        extended: Handle.bytes(given.extended),
        levels: try cacheLevels(given.levels, "sdd_cache_item.levels"))
}

/// A query of a cache, and the form to decode the result to.
struct ReadQuery {
    let key: String
    let lookup: ImageCacheLookup
    let form: DecodeOptions
    let wantsImage: Bool
    let wantsBytes: Bool
    let priority: Priority
}

/// Reads a cache query.
/// - Parameter standard: the pixel form to use if the query has no decode options.
func readQuery(
    _ given: sdd_cache_query_options, _ cache: ImageCache, standard: DecodeOptions
) throws(Refusal) -> ReadQuery {
    let options = try RequestOptions.read(given.options, "sdd_cache_query_options.options", for: .query)
    let wants = try choice(
        given.wants, "sdd_cache_query_options.wants", "SDD_WANT_",
        [
            0: (true, false), SDD_WANT_IMAGE: (true, false), SDD_WANT_BYTES: (false, true),
            SDD_WANT_BOTH: (true, true),
        ])
    let form = try pixelForm(
        given.decode, "sdd_cache_query_options.decode", options: options, standard: standard
    ).coloured(forLoad: true).withOwnBytesAlone
    let key = try cacheKey(given.key, "sdd_cache_query_options.key")
    let lookup = ImageCacheLookup(
        cache, key: key, form: form, levels: try cacheLevels(given.levels, "sdd_cache_query_options.levels"),
        wantsImage: wants.0, wantsBytes: wants.1)
    return ReadQuery(
        key: key, lookup: lookup, form: form, wantsImage: wants.0, wantsBytes: wants.1,
        priority: try priority(given.priority, "sdd_cache_query_options.priority"))
}
