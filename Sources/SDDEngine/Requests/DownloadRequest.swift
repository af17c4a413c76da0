package import SDDBase
package import SDDCoders
package import SDDTransport

/// One caller's validated request: the transfer to make, its priority and limits, the responses it accepts, and whether
/// it wants pixels or bytes. A value type that holds a single reference, because a request is passed on often and
/// changed only while it is made.
package struct DownloadRequest: Sendable {
    private struct Parts {
        var transfer: HTTPRequest
        var priority = Priority.normal
        var wantsPixels = true
        var form = DecodeOptions()
        var wantsProgress = false
        var wantsPreviews = false
        var wantsFacts = false
        var endsEarly = false
        var continuesInBackground = false
        var queueLimit = Int64(0)
        var totalLimit = Int64(0)
        var maxAttempts = Int32(0)
        var acceptance = Acceptance.standard
        var bodyWork: BodyWork?
        var lookup: (any CacheLookup)?
        var keeper: OriginalKeeper?
        var isStage = false
        var isPrompt = false
    }

    private final class Storage: @unchecked Sendable {
        // Safety: changed only by a request that holds the only reference.
        var parts: Parts

        init(_ parts: Parts) { self.parts = parts }
    }

    private var storage: Storage

    private var parts: Parts {
        _read { yield storage.parts }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.parts) }
            yield &storage.parts
        }
    }

    package init(transfer: HTTPRequest) { storage = Storage(Parts(transfer: transfer)) }

    package var transfer: HTTPRequest {
        get { storage.parts.transfer }
        set { parts.transfer = newValue }
    }
    package var priority: Priority {
        get { storage.parts.priority }
        set { parts.priority = newValue }
    }
    package var wantsPixels: Bool {
        get { storage.parts.wantsPixels }
        set { parts.wantsPixels = newValue }
    }
    package var form: DecodeOptions {
        get { storage.parts.form }
        set { parts.form = newValue }
    }
    package var wantsProgress: Bool {
        get { storage.parts.wantsProgress }
        set { parts.wantsProgress = newValue }
    }
    /// True if previews of the incomplete image are wanted while the body arrives.
    package var wantsPreviews: Bool {
        get { storage.parts.wantsPreviews }
        set { parts.wantsPreviews = newValue }
    }
    /// True if the image's facts are wanted as soon as its header has arrived.
    package var wantsFacts: Bool {
        get { storage.parts.wantsFacts }
        set { parts.wantsFacts = newValue }
    }
    /// True if the transfer may end as soon as the image is complete, without the rest of the body.
    package var endsEarly: Bool {
        get { storage.parts.endsEarly }
        set { parts.endsEarly = newValue }
    }
    package var continuesInBackground: Bool {
        get { storage.parts.continuesInBackground }
        set { parts.continuesInBackground = newValue }
    }
    /// Time limits from submission to the start of the transfer and to the end, in microseconds; 0 means no limit.
    package var queueLimit: Int64 {
        get { storage.parts.queueLimit }
        set { parts.queueLimit = newValue }
    }
    package var totalLimit: Int64 {
        get { storage.parts.totalLimit }
        set { parts.totalLimit = newValue }
    }
    /// The maximum number of transfers, including the first; 0 uses the downloader's rules.
    package var maxAttempts: Int32 {
        get { storage.parts.maxAttempts }
        set { parts.maxAttempts = newValue }
    }
    package var acceptance: Acceptance {
        get { storage.parts.acceptance }
        set { parts.acceptance = newValue }
    }
    /// The application's processing of the response and the body; `nil` for none.
    package var bodyWork: BodyWork? {
        get { storage.parts.bodyWork }
        set { parts.bodyWork = newValue }
    }
    /// The cache lookup that precedes the network; `nil` for none.
    package var lookup: (any CacheLookup)? {
        get { storage.parts.lookup }
        set { parts.lookup = newValue }
    }
    /// Stores the original; requests that share a transfer may have different keepers.
    var keeper: OriginalKeeper? {
        get { storage.parts.keeper }
        set { parts.keeper = newValue }
    }
    /// True for a request of a load, see `Listener.stages`.
    var isStage: Bool {
        get { storage.parts.isStage }
        set { parts.isStage = newValue }
    }
    /// True if the end is told immediately, without waiting for delivery: a thread may be blocked until then, see
    /// `Job.isPrompt`.
    var isPrompt: Bool {
        get { storage.parts.isPrompt }
        set { parts.isPrompt = newValue }
    }

    /// The memory of the request, if that may hold the last reference to objects of the application, which must be
    /// released without a lock: their release may call the library.
    var memoryToRelease: AnyObject? {
        bodyWork == nil && lookup == nil && keeper == nil && transfer.plugin == nil ? nil : storage
    }

    /// Hash key of the request: equal for requests that may share a transfer, and usually different for others. The
    /// hashes of its parts are computed once, when the parts are made.
    var hashKey: UInt64 {
        var hashKey = transfer.url.hashKey
        hashKey = (hashKey ^ transfer.headers.hashKey) &* 0x100_0000_01b3
        hashKey = (hashKey ^ transfer.options.hashKey) &* 0x100_0000_01b3
        hashKey = (hashKey ^ (bodyWork?.hashKey ?? 0)) &* 0x100_0000_01b3
        hashKey = (hashKey ^ (lookup?.hashKey ?? 0)) &* 0x100_0000_01b3
        return transfer.method == "GET" ? hashKey : ~hashKey
    }

    /// True if the request may share a transfer at all. Only safe methods may (RFC 9110 §9.2.1), and only without a
    /// body or a sink.
    var isShareable: Bool {
        transfer.body == nil && transfer.sink == nil && (transfer.method == "GET" || transfer.method == "HEAD")
    }
}

extension Job {
    /// True if this job sends the same request, as far as the answer can depend on it. The parts mostly compare by the
    /// identity of their shared storage.
    func serves(_ other: DownloadRequest) -> Bool {
        original.url == other.transfer.url && original.method == other.transfer.method
            && original.headers == other.transfer.headers && original.options == other.transfer.options
            && original.plugin === other.transfer.plugin && original.cookies == other.transfer.cookies
            && bodyWork == other.bodyWork
            && asksTheSame(as: other)
    }

    private func asksTheSame(as other: DownloadRequest) -> Bool {
        guard let caching else { return other.lookup?.isOptional ?? true }
        if let lookup = other.lookup, caching.lookup.isSame(as: lookup) { return true }
        // While a cache is being asked, or after it has answered, the shared answer would not be the network's.
        return caching.lookup.isOptional && other.lookup?.isOptional ?? true && !isAsking
            && caching.origin == .network
    }
}
