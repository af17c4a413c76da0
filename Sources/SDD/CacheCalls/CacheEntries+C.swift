public import CSDD
internal import Glibc
internal import SDDBase
internal import SDDCaches
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

// Storing, looking up and removing entries of a cache.

@_cdecl("sdd_cache_memory_image") @implementation
public func sdd_cache_memory_image(_ cache: OpaquePointer?, _ key: UnsafePointer<CChar>?) -> OpaquePointer? {
    answer(orElse: nil) { () throws(Refusal) in
        guard let key else { throw .null("key") }
        let cache = try Caches.cache(cache)
        // Safety: the caller passes a string that ends with NUL.
        let bytes = UnsafeRawBufferPointer(start: key, count: strlen(key))
        return Handle.retained(cache.image(for: bytes))
    }
}

@_cdecl("sdd_cache_put") @implementation
public func sdd_cache_put(
    _ cache: OpaquePointer?, _ downloader: OpaquePointer?, _ item: UnsafePointer<sdd_cache_item>?
) -> sdd_token {
    answer(orElse: 0) { () throws(Refusal) in
        let client = try Downloaders.client(downloader)
        let cache = try Caches.cache(cache)
        let given = try read(item, "item")
        let made = try cacheItem(given)
        let callbacks = RequestCallbacks(
            key: given.key, given.completed, given.user_data, given.user_data_free)
        let request = DownloadRequest.Parts(transfer: HTTPRequest(url: ImageURL(key: made.key)))
        request.lookup = StoreLookup(cache, made)
        request.wantsPixels = false
        return try client.submit(DownloadRequest(request), callbacks)
    }
}

@_cdecl("sdd_cache_put_wait") @implementation
public func sdd_cache_put_wait(_ cache: OpaquePointer?, _ item: UnsafePointer<sdd_cache_item>?) -> sdd_status {
    status { () throws(Refusal) in
        let cache = try Caches.cache(cache)
        let given = try read(item, "item")
        if given.completed != nil { throw callbackOfWait("sdd_cache_item.completed") }
        if given.user_data_free != nil { throw callbackOfWait("sdd_cache_item.user_data_free") }
        try refuseOwnThread(of: cache)
        if let error = cache.storeNow(try cacheItem(given)) { throw Refusal(error) }
    }
}

@_cdecl("sdd_cache_query") @implementation
public func sdd_cache_query(
    _ cache: OpaquePointer?, _ downloader: OpaquePointer?, _ query: UnsafePointer<sdd_cache_query_options>?
) -> sdd_token {
    answer(orElse: 0) { () throws(Refusal) in
        let client = try Downloaders.client(downloader)
        let cache = try Caches.cache(cache)
        let given = try read(query, "query")
        guard given.completed != nil || client.downloader.isAppDriven else {
            throw nobodyToTell("sdd_cache_query_options.completed")
        }
        let made = try readQuery(given, cache, standard: client.currentDefaults.form)
        let callbacks = RequestCallbacks(
            key: given.key, given.completed, given.user_data, given.user_data_free)
        let request = DownloadRequest.Parts(transfer: HTTPRequest(url: ImageURL(key: made.key)))
        request.lookup = made.lookup
        request.priority = made.priority
        request.wantsPixels = made.wantsImage
        request.form = made.form
        return try client.submit(DownloadRequest(request), callbacks)
    }
}

@_cdecl("sdd_cache_query_wait") @implementation
public func sdd_cache_query_wait(
    _ cache: OpaquePointer?, _ query: UnsafePointer<sdd_cache_query_options>?,
    _ out: UnsafeMutablePointer<UnsafeMutablePointer<sdd_result>?>?
) -> sdd_status {
    out?.pointee = nil
    return status { () throws(Refusal) in
        let cache = try Caches.cache(cache)
        let given = try read(query, "query")
        if given.completed != nil { throw callbackOfWait("sdd_cache_query_options.completed") }
        if given.user_data_free != nil { throw callbackOfWait("sdd_cache_query_options.user_data_free") }
        let made = try readQuery(given, cache, standard: DecodeOptions())
        let result = made.lookup.resultNow(wantsBytes: made.wantsBytes)
        out?.pointee = OwnedResult.make(result, url: given.key)
        if let error = result.error { throw Refusal(error, of: result) }
    }
}

@_cdecl("sdd_cache_contains_wait") @implementation
public func sdd_cache_contains_wait(_ cache: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ levels: Int32) -> Int32 {
    answer(orElse: 0) { () throws(Refusal) in
        let (key, levels) = (try cacheKey(key, "key"), try cacheLevels(levels, "levels"))
        return try Caches.cache(cache).contains(key, levels).rawValue
    }
}

@_cdecl("sdd_cache_remove_wait") @implementation
public func sdd_cache_remove_wait(_ cache: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ levels: Int32) -> sdd_status
{
    status { () throws(Refusal) in
        let (key, levels) = (try cacheKey(key, "key"), try cacheLevels(levels, "levels"))
        let cache = try Caches.cache(cache)
        if cache.remove(key, levels) != nil { throw notRemoved(from: cache) }
    }
}

@_cdecl("sdd_cache_clear_wait") @implementation
public func sdd_cache_clear_wait(_ cache: OpaquePointer?, _ levels: Int32) -> sdd_status {
    status { () throws(Refusal) in
        let levels = try cacheLevels(levels, "levels")
        let cache = try Caches.cache(cache)
        if cache.clear(levels) != nil { throw notRemoved(from: cache) }
    }
}

@_cdecl("sdd_cache_key") @implementation
public func sdd_cache_key(
    _ cache: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ decode: UnsafePointer<sdd_decode_options>?,
    _ transforms: UnsafePointer<sdd_transform>?, _ count: Int, _ buffer: UnsafeMutablePointer<CChar>?,
    _ capacity: Int, _ length: UnsafeMutablePointer<Int>?
) -> sdd_status {
    status { () throws(Refusal) in
        try checkBuffer(buffer, capacity: capacity)
        let given = try cacheKey(url, "url")
        var form = (try pixelForm(decode, "decode") ?? DecodeOptions()).coloured(forLoad: true)
        form.transforms = try appTransforms(transforms, "transforms", count: count, "transform_count").chain
        let cache = try Caches.cache(cache)
        guard let key = CacheKeys.key(of: cache.key(ofURL: given), as: form) else {
            throw Refusal(
                SDD_ERROR_INVALID_ARGUMENT, "decode", "what goes to memory of the application's is kept under no key")
        }
        try write(key, to: buffer, capacity: capacity, length: length)
    }
}

@_cdecl("sdd_cache_path") @implementation
public func sdd_cache_path(
    _ cache: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ length: UnsafeMutablePointer<Int>?
) -> sdd_status {
    status { () throws(Refusal) in
        try checkBuffer(buffer, capacity: capacity)
        let key = try cacheKey(key, "key")
        guard let store = try Caches.cache(cache).disk?.store, store.hasFiles else {
            throw Refusal(SDD_ERROR_NOT_FOUND, "cache", "its entries are in no files")
        }
        try write(store.path(key), to: buffer, capacity: capacity, length: length)
    }
}

@_cdecl("sdd_cache_open_wait") @implementation
public func sdd_cache_open_wait(
    _ cache: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ fd: UnsafeMutablePointer<Int32>?,
    _ size: UnsafeMutablePointer<Int64>?
) -> sdd_status {
    status { () throws(Refusal) in
        fd?.pointee = -1
        guard let fd else { throw .null("fd") }
        guard let size else { throw .null("size") }
        let key = try cacheKey(key, "key")
        guard let entry = try Caches.cache(cache).disk?.openBody(key) else {
            throw Refusal(SDD_ERROR_NOT_CACHED, "key", "there is no entry on disk under \(shownKey(key))")
        }
        fd.pointee = entry.descriptor
        size.pointee = entry.size
    }
}
