internal import CSDD
internal import SDDBase
internal import SDDEngine

extension Handle {
    static let loaders = HandleRegistry<LoaderClient>(.loader)
}

/// The object behind a loader handle: the loader, its caches and the application's callbacks. Callable from any
/// thread.
final class LoaderClient: Sendable {
    let loader: Loader
    let downloadClient: Client
    /// The caches for loads; `nil` means no cache.
    let caches: LoadCaches?
    let hooks: AppLoadHooks
    let prefetcher: Prefetcher

    init(_ client: Client, caches: LoadCaches?, policy: FailurePolicy, hooks: AppLoadHooks) {
        downloadClient = client
        self.caches = caches
        self.hooks = hooks
        loader = Loader(client.downloader, failPolicy: policy, hooks: hooks)
        caches?.images.used(by: client.downloader)
        caches?.originals.used(by: client.downloader)
        prefetcher = Prefetcher(delivering: client.downloader)
    }

    func cancelAll() {
        prefetcher.cancelAll()
        loader.cancelAll()
    }

    /// Cancels all loads and refuses new prefetch lists, even from threads that resolved the handle before it was
    /// destroyed.
    func close() {
        prefetcher.close()
        loader.close()
    }

    /// Returns the key of a URL in the list of failed URLs; "" for an invalid URL.
    func failedKey(_ url: UnsafePointer<CChar>?) throws(Refusal) -> String {
        guard url != nil else { throw .null("url") }
        guard let made = try? downloadClient.currentDefaults.url(url) else { return "" }
        return LoadPlan.Source.askedURL(made.textWithoutUserinfo)
    }
}

/// The callbacks of a loader's config. Thread: the one that makes the decision, with no lock held; for the options
/// processor, the submitting one.
final class AppLoadHooks: LoadHooks {
    private let download: sdd_should_download_fn?
    private let block: sdd_should_block_fn?
    private let processor: sdd_options_processor_fn?
    let data: AppData

    init(_ config: sdd_loader_config) {
        download = config.should_download
        block = config.should_block_failed_url
        processor = config.options_processor
        data = AppData(config.user_data, free: config.user_data_free)
    }

    var hasShouldDownload: Bool { download != nil }
    var hasShouldBlock: Bool { block != nil }
    var hasProcessor: Bool { processor != nil }

    func shouldDownload(_ url: String) -> Bool {
        url.withCString { download?($0, data.pointer) != 0 }
    }

    func shouldBlock(_ url: String, _ result: DownloadResult) -> Bool? {
        guard let block else { return nil }
        let answer = (result.error?.message ?? "").withCString { message in
            var failure = sdd_failure(
                result.error, stage: result.stage, httpStatus: result.httpStatus, message: message)
            return url.withCString { block($0, &failure, data.pointer) }
        }
        return switch Int(answer) {
        case SDD_BLOCK: true
        case SDD_DO_NOT_BLOCK: false
        default: nil
        }
    }

    /// Runs the options processor. It cannot change `completed`, `user_data` and `user_data_free`.
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

extension LoaderClient {
    /// Reads a load request of the application, or of the calls that make one.
    /// - Parameters:
    ///   - whole: the spec of the batch or list that it is part of.
    ///   - optionsPlace: as in `RequestStruct.spec`.
    func read(
        _ request: sdd_load_request, for use: RequestOptions.Use = .load, of whole: RequestSpec? = nil,
        _ optionsPlace: Place? = nil
    ) throws(Refusal) -> LoadReading {
        try LoadReading(
            request, caches, hasEvents: downloadClient.downloader.isAppDriven, for: use, of: whole, optionsPlace)
    }
}
