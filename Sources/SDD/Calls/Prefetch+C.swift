public import CSDD
internal import SDDBase
internal import SDDEngine

// Prefetching lists of URLs.

@_cdecl("sdd_prefetch") @implementation
public func sdd_prefetch(
    _ loader: OpaquePointer?, _ list: UnsafePointer<sdd_prefetch_list>?, _ out: UnsafeMutablePointer<sdd_status>?
) -> sdd_token {
    var token: sdd_token = 0
    let status = status { () throws(Refusal) in
        let client = try Loaders.loader(loader)
        var given = sdd_prefetch_list()
        try read(list, "list", into: &given)
        guard given.reserved == 0 else { throw .reserved("sdd_prefetch_list.reserved") }
        let made = PrefetchList(urls: try urls(of: given, client), loads: try PrefetchedLoads(given, client))
        let callbacks = PrefetchCallbacks(given, urls: made.urls)
        guard let accepted = client.prefetcher.submit(made, callbacks: callbacks) else {
            throw Refusal(SDD_ERROR_CLOSED, "loader", "another thread has destroyed it, or its downloader, meanwhile")
        }
        token = accepted
    }
    out?.pointee = status
    return token
}

private let mostURLs = 1 << 20

private func urls(
    of given: sdd_prefetch_list, _ client: LoaderClient
) throws(Refusal) -> [Result<ImageURL, DownloadError>] {
    if given.count == 0 { return [] }
    guard let urls = given.urls else { throw .null("sdd_prefetch_list.urls") }
    guard (1...mostURLs).contains(given.count) else {
        throw .number("sdd_prefetch_list.count", UInt(bitPattern: given.count), allowed: "0 to \(mostURLs)")
    }
    let defaults = client.client.currentDefaults
    // Safety: the library's header requires `count` elements.
    return UnsafeBufferPointer(start: urls, count: given.count).map { url in
        Result { () throws(DownloadError) in try defaults.url(url) }
    }
}

@_cdecl("sdd_loader_set_max_concurrent_prefetches") @implementation
public func sdd_loader_set_max_concurrent_prefetches(_ loader: OpaquePointer?, _ count: Int32) -> sdd_status {
    status { () throws(Refusal) in
        guard count > 0 else { throw .number("count", count, allowed: "at least 1") }
        try Loaders.loader(loader).prefetcher.setLimit(Int(count))
    }
}
