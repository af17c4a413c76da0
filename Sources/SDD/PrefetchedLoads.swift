internal import CSDD
internal import SDDBase
internal import SDDEngine

/// How the URLs of one list are loaded: as the host would load them itself, but of very low priority. Thread: any, one
/// that begins a load.
final class PrefetchedLoads: PrefetchLoading, @unchecked Sendable {
    // Safety: nothing changes after `init`, and `decode` points to nothing.
    private let client: LoaderClient
    private let options: UInt64
    private let decode: sdd_decode_options?
    private let isToDisk: Bool

    /// What would make who begins a load wait, and what nobody would look at.
    private static let ignored = UInt64(
        SDD_LOAD_QUERY_MEMORY_DATA | SDD_LOAD_QUERY_MEMORY_DATA_SYNC | SDD_LOAD_QUERY_DISK_DATA_SYNC
            | SDD_LOAD_PROGRESSIVE_LOAD)

    init(_ given: sdd_prefetch_list, _ client: LoaderClient) throws(Refusal) {
        self.client = client
        options = given.options & ~Self.ignored
        isToDisk = try choice(given.to, [SDD_PREFETCH_MEMORY: false, SDD_PREFETCH_DISK: true])
        guard given.decode != nil else {
            decode = nil
            return
        }
        // Read once, to be refused where the host sees it.
        _ = try pixelForm(given.decode)
        var copy = sdd_decode_options()
        try read(given.decode, into: &copy)
        guard copy.pixels == nil, copy.allocator == nil else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        copy.struct_size = MemoryLayout<sdd_decode_options>.size
        decode = copy
    }

    func prefetch(_ url: ImageURL, receiver: any Receiver) throws(DownloadError) -> UInt64? {
        do throws(Refusal) {
            let made = try reading(CText(url.text))
            guard let token = client.loader.submit(made.plan, receiver: receiver, isImmediate: true) else { return nil }
            made.modifiers?.data.own()
            return token
        } catch {
            throw LoadReading.badlyProcessed
        }
    }

    func cancel(_ token: UInt64) { _ = client.loader.cancel(token) }

    private func reading(_ url: CText) throws(Refusal) -> LoadReading {
        defer { withExtendedLifetime(url) {} }
        var request = sdd_image_request()
        request.url = url.pointer
        request.options = options
        request.priority = Int32(SDD_PRIORITY_VERY_LOW)
        var download = sdd_request()
        download.struct_size = MemoryLayout<sdd_request>.size
        if isToDisk {
            download.options = UInt64(SDD_OPTION_BYTES_ONLY)
            (request.query, request.store) = (Int32(SDD_CACHE_DISK), Int32(SDD_CACHE_DISK))
        }
        return try withUnsafePointer(to: download) { download throws(Refusal) in
            request.download = download
            return try withUnsafePointer(to: decode ?? sdd_decode_options()) { decode throws(Refusal) in
                if self.decode != nil { request.decode = decode }
                client.hooks.process(&request)
                return try LoadReading(request, client)
            }
        }
    }
}
