internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

// Batch sources: they fetch the items of a batch.

extension BatchEntry {
    /// Calls `body` with the URL as a C string, valid during the call; NULL if there is no URL.
    fileprivate func withURL<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        guard let url else { return body(nil) }
        // Safety: `url` ends with NUL.
        return url.withUnsafeBytes { body($0.bindMemory(to: CChar.self).baseAddress) }
    }
}

/// Fetches each item as a request of a downloader. Callable from any thread.
struct DownloadedBatchSource: BatchSource {
    private let client: Client
    private let options: UInt64
    private let maxAttempts: Int32

    init(_ client: Client, options: UInt64, maxAttempts: Int32) {
        self.client = client
        self.options = options
        self.maxAttempts = maxAttempts
    }

    func submit(_ entry: BatchEntry, in form: DecodeOptions?, totalLimit: Int64, callbacks: any AppCallbacks) -> UInt64?
    {
        let made = request(for: entry).map { made in
            var made = made
            if let form { made.form = form }
            made.wantsPreviews = false
            made.maxAttempts = maxAttempts
            if totalLimit > 0 { made.totalLimit = made.totalLimit > 0 ? min(made.totalLimit, totalLimit) : totalLimit }
            return made
        }
        return client.downloader.submit(made, callbacks: callbacks, isImmediate: true)
    }

    private func request(for entry: BatchEntry) -> Result<DownloadRequest, DownloadError> {
        var request = sdd_download_request()
        request.options = options
        return entry.withURL { url in
            request.url = url
            return makeRequest(request, client.currentDefaults, nil)
        }
    }

    func cancel(_ token: UInt64) { _ = client.downloader.cancel(token) }
}

/// Fetches each item as a load, from the cache if it has the image. Callable from any thread.
struct LoadedBatchSource: BatchSource {
    private let client: LoaderClient
    private let options: UInt64
    private let maxAttempts: Int32

    init(_ client: LoaderClient, options: UInt64, maxAttempts: Int32) {
        self.client = client
        self.options = options
        self.maxAttempts = maxAttempts
    }

    func submit(_ entry: BatchEntry, in form: DecodeOptions?, totalLimit: Int64, callbacks: any AppCallbacks) -> UInt64?
    {
        let refused = LoadPlan.Source(url: "", request: .failure(LoadReading.badlyProcessed))
        let made = try? reading(entry, form).get()
        var plan = made?.plan ?? LoadPlan(sources: [refused])
        if totalLimit > 0 { plan.totalLimit = plan.totalLimit > 0 ? min(plan.totalLimit, totalLimit) : totalLimit }
        guard let token = client.loader.submit(plan, callbacks: callbacks, isImmediate: true) else { return nil }
        made?.modifiers?.data.own()
        return token
    }

    private func reading(_ entry: BatchEntry, _ form: DecodeOptions?) -> Result<LoadReading, Refusal> {
        var download = sdd_download_request()
        download.struct_size = MemoryLayout<sdd_download_request>.size
        download.max_attempts = maxAttempts
        var request = sdd_load_request()
        request.options = options
        return entry.withURL { url in
            request.url = url
            return withUnsafePointer(to: download) { download in
                request.download = download
                client.hooks.process(&request)
                return Result { () throws(Refusal) in try LoadReading(request, client, form: form) }
            }
        }
    }

    func cancel(_ token: UInt64) { _ = client.loader.cancel(token) }
}
