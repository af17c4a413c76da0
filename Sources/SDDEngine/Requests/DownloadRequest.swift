package import SDDBase
package import SDDCoders
package import SDDTransport

/// One caller's validated request: the transfer to make, its priority and limits, the responses it accepts, and whether
/// it wants pixels or bytes.
package struct DownloadRequest: Sendable {
    package var transfer: HTTPRequest
    package var priority = Priority.normal
    package var wantsPixels = true
    package var form = DecodeOptions()
    package var wantsProgress = false
    /// True if previews of the incomplete image are wanted while the body arrives.
    package var wantsPreviews = false
    /// True if the image's facts are wanted as soon as its header has arrived.
    package var wantsFacts = false
    /// True if the transfer may end as soon as the image is complete, without the rest of the body.
    package var endsEarly = false
    package var continuesInBackground = false
    /// Time limits from submission to the start of the transfer and to the end, in microseconds; 0 means no limit.
    package var queueLimit: Int64 = 0
    package var totalLimit: Int64 = 0
    /// The maximum number of transfers, including the first; 0 uses the downloader's rules.
    package var maxAttempts: Int32 = 0
    package var acceptance = Acceptance.standard
    /// The application's processing of the response and the body; `nil` for none.
    package var bodyWork: BodyWork?
    /// The cache lookup that precedes the network; `nil` for none.
    package var lookup: (any CacheLookup)?
    /// Stores the original; requests that share a transfer may have different keepers.
    var keeper: OriginalKeeper?
    /// True for a request of a load, see `Listener.stages`.
    var isStage = false
    /// True if the end is told immediately, without waiting for delivery: a thread may be blocked until then, see
    /// `Job.isPrompt`.
    var isPrompt = false

    package init(transfer: HTTPRequest) { self.transfer = transfer }

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
