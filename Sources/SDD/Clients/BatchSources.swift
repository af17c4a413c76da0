internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

// Batch sources: they fetch the items of a batch.

/// Fetches each item as a request of a downloader. Callable from any thread.
struct DownloadedBatchSource: BatchSource {
    private let client: Client
    private let spec: RequestSpec

    init(_ client: Client, _ spec: RequestSpec) {
        self.client = client
        self.spec = spec
    }

    func submit(_ entry: BatchEntry, in form: DecodeOptions?, totalLimit: Int64, callbacks: any AppCallbacks) -> UInt64?
    {
        let spec = spec.ofItem(in: form, totalLimit)
        let made = entry.withURL { client.currentDefaults.resolve(spec, checking: $0) }
        return client.downloader.submit(made, callbacks: callbacks, isImmediate: true)
    }

    func cancel(_ token: UInt64) { _ = client.downloader.cancel(token) }
}

/// Fetches each item as a load, from the cache if it has the image. Callable from any thread.
struct LoadedBatchSource: BatchSource {
    private let client: LoaderClient
    private let spec: RequestSpec

    init(_ client: LoaderClient, _ spec: RequestSpec) {
        self.client = client
        var spec = spec
        spec.load = LoadSpec(caches: client.caches)
        self.spec = spec
    }

    func submit(_ entry: BatchEntry, in form: DecodeOptions?, totalLimit: Int64, callbacks: any AppCallbacks) -> UInt64?
    {
        let (plan, appData) = plan(entry, spec.ofItem(in: form, totalLimit))
        guard let token = client.loader.submit(plan, callbacks: callbacks, isImmediate: true) else { return nil }
        appData.own()
        return token
    }

    private func plan(_ entry: BatchEntry, _ spec: RequestSpec) -> (LoadPlan, [AppData]) {
        let defaults = client.downloadClient.currentDefaults
        if client.hooks.hasProcessor {
            return entry.withCString { url in
                guard let made = try? processed(url, spec) else {
                    return (LoadPlan(sources: [LoadPlan.Source(.failure(LoadReading.badlyProcessed))]), [])
                }
                return (made.plan(defaults), made.appData)
            }
        }
        let url = entry.withURL { bytes in
            Result { () throws(DownloadError) in
                try defaults.url(checking: bytes, limit: defaults.bodyLimit(spec))
            }
        }
        return (defaults.plan(spec, [url]), [])
    }

    /// Reads the load that the options processor has changed.
    private func processed(_ url: UnsafePointer<CChar>?, _ spec: RequestSpec) throws(Refusal) -> LoadReading {
        var request = sdd_load_request()
        request.struct_size = MemoryLayout<sdd_load_request>.size
        request.url = url
        request.options = spec.options.rawValue
        request.priority = spec.priority.rawValue
        client.hooks.process(&request)
        return try client.read(request, for: .loadWait, of: spec)
    }

    func cancel(_ token: UInt64) { _ = client.loader.cancel(token) }
}

extension RequestSpec {
    /// Returns a batch's spec for one item.
    /// - Parameters:
    ///   - form: of the pixels, with the memory that they go to; `nil` for the spec's.
    ///   - totalLimit: microseconds; 0 means no limit.
    fileprivate func ofItem(in form: DecodeOptions?, _ totalLimit: Int64) -> RequestSpec {
        var spec = self
        spec.wholeForm = form
        spec.batchLimit = totalLimit
        return spec
    }
}

extension BatchEntry {
    /// Calls `body` with the URL as a C string, valid during the call; NULL if there is no URL.
    fileprivate func withCString<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        guard let url else { return body(nil) }
        // Safety: `url` ends with NUL.
        return url.withUnsafeBytes { body($0.bindMemory(to: CChar.self).baseAddress) }
    }
}
