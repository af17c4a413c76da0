internal import CSDD
internal import SDDBase
internal import SDDEngine

/// What a handle of a loader stands for: the loader, the caches that it asks, and what the host has to say. Any thread.
final class LoaderClient: Sendable {
    let loader: Loader
    let client: Client
    /// nil: none.
    let cache: ImageCache?
    let originals: ImageCache?
    let hooks: HostLoadHooks
    let prefetcher: Prefetcher

    init(_ client: Client, cache: ImageCache?, originals: ImageCache?, policy: FailurePolicy, hooks: HostLoadHooks) {
        self.client = client
        self.cache = cache
        self.originals = originals
        self.hooks = hooks
        loader = Loader(client.downloader, failPolicy: policy, hooks: hooks)
        prefetcher = Prefetcher(delivering: client.downloader)
    }

    func cancelAll() {
        prefetcher.cancelAll()
        loader.cancelAll()
    }

    /// No more lists are taken, also from those who have found this before its handle was dead.
    func close() {
        prefetcher.close()
        loader.cancelAll()
    }

    /// As the list of failed URLs knows it.
    func failedKey(_ url: UnsafePointer<CChar>?) throws(Refusal) -> String {
        guard url != nil else { throw .null("url") }
        guard let made = try? client.currentDefaults.url(url) else { return "" }
        return failedURLKey(made)
    }
}

private func failedURLKey(_ url: ImageURL) -> String { askedURL(url.textWithoutUserinfo) }

/// What of a URL hooks and failures are told: not one that is a whole picture.
func askedURL(_ text: String) -> String { text.utf8.count <= ImageURL.maxLength ? text : "" }

/// The functions of a loader's config. Thread: whichever decides, with no lock held; the processor's: the submitting one.
final class HostLoadHooks: LoadHooks {
    private let download: sdd_should_download_fn?
    private let block: sdd_should_block_fn?
    private let processor: sdd_options_processor_fn?
    let data: HostData

    init(_ config: sdd_loader_config) {
        download = config.should_download
        block = config.should_block_failed_url
        processor = config.options_processor
        data = HostData(config.user_data, free: config.user_data_free)
    }

    var hasShouldDownload: Bool { download != nil }
    var hasShouldBlock: Bool { block != nil }

    func shouldDownload(_ url: String) -> Bool {
        url.withCString { download?($0, data.pointer) != 0 }
    }

    func shouldBlock(_ url: String, _ error: DownloadError, httpStatus: Int32) -> Bool? {
        let answer = url.withCString {
            block?($0, error.code.rawValue, error.detail.rawValue, httpStatus, data.pointer) ?? -1
        }
        return answer < 0 ? nil : answer != 0
    }

    /// Whom a load belongs to, and who is told of its end, is not for it to change.
    func process(_ request: inout sdd_load_request) {
        guard let processor else { return }
        let given = request
        processor(&request, data.pointer)
        request.struct_size = given.struct_size
        request.completed = given.completed
        request.user_data = given.user_data
        request.user_data_free = given.user_data_free
    }
}

/// A loader as its config wants it.
func makeLoader(_ config: sdd_loader_config) throws(Refusal) -> LoaderClient {
    guard let policy = FailurePolicy(rawValue: config.fail_policy) else {
        throw .number("sdd_loader_config.fail_policy", config.fail_policy, allowed: "one of SDD_FAIL_")
    }
    let hasNoCache = try flag(config.no_cache, "sdd_loader_config.no_cache")
    let client = try Handle.client(config.downloader, "sdd_loader_config.downloader")
    var cache: ImageCache?
    var originals: ImageCache?
    if !hasNoCache {
        cache = try Handle.cache(config.cache, "sdd_loader_config.cache")
        originals =
            config.original_cache == nil
            ? cache : try Handle.cache(config.original_cache, "sdd_loader_config.original_cache")
    }
    let hooks = HostLoadHooks(config)
    let made = LoaderClient(client, cache: cache, originals: originals, policy: policy, hooks: hooks)
    hooks.data.own()
    return made
}
