internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

// Batch sources: they fetch the items of a batch.

/// Returns the shorter of two time limits; 0 means no limit.
private func shorter(_ a: Int64, _ b: Int64) -> Int64 { a > 0 && b > 0 ? min(a, b) : max(a, b) }

/// Fetches each item as a request of a downloader. Callable from any thread.
struct DownloadedBatchSource: BatchSource {
    private let client: Client
    private let wish: RequestWish

    init(_ client: Client, _ wish: RequestWish) {
        self.client = client
        self.wish = wish
    }

    func submit(_ entry: BatchEntry, in form: DecodeOptions?, totalLimit: Int64, callbacks: any AppCallbacks) -> UInt64?
    {
        let made = entry.withURL { wish.request(for: $0, client.currentDefaults) }.map { made in
            var made = made
            if let form { made.form = form }
            made.wantsPreviews = false
            made.totalLimit = shorter(made.totalLimit, totalLimit)
            return made
        }
        return client.downloader.submit(made, callbacks: callbacks, isImmediate: true)
    }

    func cancel(_ token: UInt64) { _ = client.downloader.cancel(token) }
}

/// Fetches each item as a load, from the cache if it has the image. Callable from any thread.
struct LoadedBatchSource: BatchSource {
    private let client: LoaderClient
    private let wish: LoadWish
    private let request: RequestWish

    init(_ client: LoaderClient, _ request: RequestWish) {
        self.client = client
        self.request = request
        var wish = LoadWish(options: request.options)
        wish.caches = client.caches
        self.wish = wish
    }

    func submit(_ entry: BatchEntry, in form: DecodeOptions?, totalLimit: Int64, callbacks: any AppCallbacks) -> UInt64?
    {
        var (plan, appData) = plan(entry, form)
        plan.totalLimit = shorter(plan.totalLimit, totalLimit)
        guard let token = client.loader.submit(plan, callbacks: callbacks, isImmediate: true) else { return nil }
        appData.own()
        return token
    }

    private func plan(_ entry: BatchEntry, _ form: DecodeOptions?) -> (LoadPlan, [AppData]) {
        if client.hooks.hasProcessor {
            guard let made = try? processed(entry, form).get() else {
                return (LoadPlan(sources: [LoadPlan.Source(.failure(LoadReading.badlyProcessed))]), [])
            }
            return (made.plan, made.appData)
        }
        return (entry.withURL { wish.plan(for: $0, request, client.client.currentDefaults, in: form) }, [])
    }

    /// Reads the load that the options processor has changed.
    private func processed(_ entry: BatchEntry, _ form: DecodeOptions?) -> Result<LoadReading, Refusal> {
        var download = sdd_download_request()
        download.struct_size = MemoryLayout<sdd_download_request>.size
        download.max_attempts = self.request.maxAttempts
        var request = sdd_load_request()
        request.options = wish.options.rawValue
        return entry.withCString { url in
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

extension BatchEntry {
    /// Calls `body` with the URL as a C string, valid during the call; NULL if there is no URL.
    fileprivate func withCString<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        guard let url else { return body(nil) }
        // Safety: `url` ends with NUL.
        return url.withUnsafeBytes { body($0.bindMemory(to: CChar.self).baseAddress) }
    }
}
