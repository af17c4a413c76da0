internal import CSDD
internal import SDDBase
internal import SDDEngine

/// Loads the URLs of one prefetch list in the same way as loads that the application submits. Callable from any
/// thread.
final class PrefetchedLoads: PrefetchLoading, @unchecked Sendable {
    // Safety: nothing changes after `init`, and `decode` holds no pointers.
    private let client: LoaderClient
    private let spec: RequestSpec
    let isToDisk: Bool
    /// The decode options as an options processor gets them.
    private let decode: sdd_decode_options?

    init(_ given: sdd_prefetch_list, _ transfer: GivenTransfer?, _ client: LoaderClient) throws(Refusal) {
        self.client = client
        let options = try RequestOptions.read(given.options, "sdd_prefetch_list.options", for: .prefetch)
        isToDisk = try choice(
            given.to, "sdd_prefetch_list.to", "SDD_PREFETCH_", [SDD_PREFETCH_MEMORY: false, SDD_PREFETCH_DISK: true])
        var load = LoadSpec(caches: client.caches)
        if isToDisk { (load.levels.query, load.levels.store) = (.disk, .disk) }
        var spec = RequestSpec(options: isToDisk ? options.union([.bytesOnly, .waitStoreCache]) : options)
        spec.form = try pixelForm(given.decode, "sdd_prefetch_list.decode")
        spec.transfer = try transfer?.checkedSpec()
        spec.load = load
        self.spec = spec
        guard given.decode != nil else {
            decode = nil
            return
        }
        var copy = try read(given.decode, "sdd_prefetch_list.decode")
        guard copy.pixels == nil else { throw ownMemory("of a list") }
        guard copy.allocator == nil else {
            throw Refusal(
                SDD_ERROR_INVALID_ARGUMENT, "sdd_decode_options.allocator", "what is prefetched goes to a cache alone")
        }
        copy.struct_size = MemoryLayout<sdd_decode_options>.size
        decode = copy
    }

    func prefetch(
        _ url: ImageURL, priority: Priority, callbacks: any AppCallbacks
    ) throws(DownloadError) -> UInt64? {
        do throws(Refusal) {
            let (plan, appData) = try plan(url, priority)
            guard let token = client.loader.submit(plan, callbacks: callbacks, isImmediate: true) else { return nil }
            appData.own()
            return token
        } catch {
            throw LoadReading.badlyProcessed
        }
    }

    func cancel(_ token: UInt64) { _ = client.loader.cancel(token) }
    func setPriority(_ priority: Priority, of token: UInt64) { _ = client.loader.setPriority(priority, of: token) }

    private func plan(_ url: ImageURL, _ priority: Priority) throws(Refusal) -> (LoadPlan, [AppData]) {
        let defaults = client.downloadClient.currentDefaults
        if client.hooks.hasProcessor {
            let text = CText(url.text)
            let made = try processed(text, priority)
            // The plan reads the URL from the text.
            return withExtendedLifetime(text) { (made.plan(defaults), made.appData) }
        }
        // The URL is checked again, by the current defaults.
        var text = url.text
        let checked = text.withUTF8 { bytes in
            Result { () throws(DownloadError) in
                try defaults.url(checking: bytes, limit: defaults.bodyLimit(spec))
            }
        }
        return (defaults.plan(spec.with(priority: priority), [checked]), [])
    }

    /// Reads the load that the options processor has changed.
    private func processed(_ url: CText, _ priority: Priority) throws(Refusal) -> LoadReading {
        defer { withExtendedLifetime(url) {} }
        var request = sdd_load_request()
        request.struct_size = MemoryLayout<sdd_load_request>.size
        request.url = url.pointer
        request.options = spec.options.rawValue
        request.priority = priority.rawValue
        if spec.load?.levels.query == .disk {
            (request.query, request.store) = (sdd_cache_levels(SDD_CACHE_DISK), sdd_cache_levels(SDD_CACHE_DISK))
        }
        return try withUnsafePointer(to: decode ?? sdd_decode_options()) { decode throws(Refusal) in
            if self.decode != nil { request.decode = decode }
            client.hooks.process(&request)
            return try client.read(request, of: spec)
        }
    }
}
