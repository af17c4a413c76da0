package import SDDBase
package import SDDCoders
package import SDDTransport

/// One caller's wish, checked: what is to be fetched, how urgently, for how long, what is accepted, and whether
/// as pixels or as bytes.
package struct DownloadRequest: Sendable {
    package var transfer: HTTPRequest
    package var priority = Priority.normal
    package var wantsPixels = true
    package var form = PixelForm()
    package var wantsProgress = false
    /// What can be seen of the picture while it comes.
    package var wantsPreviews = false
    /// What the picture is, as soon as its header is there.
    package var wantsFacts = false
    /// The transfer may end as soon as the picture is complete, without the rest of the body.
    package var endsEarly = false
    package var continuesInBackground = false
    /// From submitting to the start of the transfer, and to the end; microseconds, 0 for no limit.
    package var queueLimit: Int64 = 0
    package var totalLimit: Int64 = 0
    /// Transfers for it, the first included; 0: as the downloader's rules say.
    package var maxAttempts: Int32 = 0
    package var acceptance = Acceptance.standard
    /// What the host does to the response and the body; nil for nothing.
    package var bodyWork: BodyWork?
    /// Who is asked first; nil for nobody.
    package var inquiry: (any Inquiry)?
    /// Who keeps the original; those that share a transfer may have different ones.
    var keeper: OriginalKeeper?
    /// Of a load, see `Subscriber.stages`.
    var isStage = false
    /// The end is told at once, and waits for no delivery: a thread may be blocked until then, see `Job.isPrompt`.
    var isPrompt = false

    package init(transfer: HTTPRequest) { self.transfer = transfer }

    /// The same for requests that may share a transfer, and mostly another for others. Its parts are made once, by
    /// whoever makes the part.
    var number: UInt64 {
        var number = transfer.url.number
        number = (number ^ transfer.headers.number) &* 0x100_0000_01b3
        number = (number ^ transfer.options.number) &* 0x100_0000_01b3
        number = (number ^ (bodyWork?.number ?? 0)) &* 0x100_0000_01b3
        number = (number ^ (inquiry?.number ?? 0)) &* 0x100_0000_01b3
        return transfer.method == "GET" ? number : ~number
    }

    /// Whether it may share a transfer at all: not if sending it twice is not the same as sending it once
    /// (RFC 9110 §9.2.1).
    var isShareable: Bool {
        transfer.body == nil && transfer.sink == nil && (transfer.method == "GET" || transfer.method == "HEAD")
    }
}

extension Job {
    /// Whether what is sent is the same, as far as an answer can depend on it. Mostly compared by the identity of the
    /// storage that the parts share.
    func serves(_ other: DownloadRequest) -> Bool {
        original.url == other.transfer.url && original.method == other.transfer.method
            && original.headers == other.transfer.headers && original.options == other.transfer.options
            && original.plugin === other.transfer.plugin && original.cookies == other.transfer.cookies
            && bodyWork == other.bodyWork
            && asksTheSame(as: other)
    }

    private func asksTheSame(as other: DownloadRequest) -> Bool {
        guard let caching else { return other.inquiry?.isOptional ?? true }
        if let inquiry = other.inquiry, caching.inquiry.isSame(as: inquiry) { return true }
        // Before there is a transfer, and after a cache has answered, it is not the network's that they would share.
        return caching.inquiry.isOptional && other.inquiry?.isOptional ?? true && !isAsking
            && caching.origin == .network
    }
}
