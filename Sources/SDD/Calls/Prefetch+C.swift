public import CSDD
internal import SDDBase
internal import SDDEngine

// Prefetching lists of URLs.

@_cdecl("sdd_prefetch") @implementation
public func sdd_prefetch(_ loader: OpaquePointer?, _ list: UnsafePointer<sdd_prefetch_list>?) -> sdd_token {
    answer(orElse: 0) { () throws(Refusal) in
        let client = try Loaders.loader(loader)
        let given = try read(list, "list")
        let transfer = try GivenTransfer.given(given.transfer, "sdd_prefetch_list.transfer")
        let loads = try PrefetchedLoads(given, transfer, client)
        let made = PrefetchList(
            urls: try urls(of: given, client), loads: loads,
            priority: try priority(given.priority, "sdd_prefetch_list.priority", default: .veryLow),
            isToDisk: loads.isToDisk)
        let callbacks = PrefetchCallbacks(given, urls: made.urls)
        guard let token = client.prefetcher.submit(made, callbacks: callbacks) else {
            throw Refusal(SDD_ERROR_CLOSED, "loader", "another thread has destroyed it, or its downloader, meanwhile")
        }
        (transfer?.appData ?? []).own()
        return token
    }
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
    let defaults = client.downloadClient.currentDefaults
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
