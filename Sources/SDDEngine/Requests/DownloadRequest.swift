package import SDDBase
package import SDDCoders
package import SDDTransport

/// One caller's validated request: the transfer to make, its priority and limits, the responses it accepts, and whether
/// it wants pixels or bytes. A value type that holds a single reference, because a request is passed on often and
/// rarely changed. Its properties are those of `Parts`; within this module the compiler sees through the key paths.
@dynamicMemberLookup
package struct DownloadRequest: Sendable {
    /// All that a request consists of. Changed in place while the request is being made, on one thread.
    package final class Parts: @unchecked Sendable {
        // Safety: once there is a request, only that request changes it, while it holds the only reference.
        package var transfer: HTTPRequest
        package var priority = Priority.normal
        package var wantsPixels = true
        private var sharedForm: SharedForm
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
        package var acceptance: Acceptance
        /// The application's processing of the response and the body; `nil` for none.
        package var bodyWork: BodyWork?
        /// The cache lookup that precedes the network; `nil` for none.
        package var lookup: (any CacheLookup)?
        /// The lookup that takes a claim to download first, if one is needed when the transfer is to start.
        var claiming: ClaimIfShared?
        /// Stores the original; requests that share a transfer may have different keepers.
        var keeper: OriginalKeeper?
        /// Puts the image into memory, before anyone can find the original on disk.
        var pixelKeeper: PictureKeeper?
        /// Finds the image in memory, where another request may have put it before the original was found on disk.
        var search: MemorySearch?
        /// True for a request of a load, see `Listener.stages`.
        var isStage = false
        /// True if the end is told immediately, without waiting for delivery: a thread may be blocked until then, see
        /// `Job.isPrompt`.
        var isPrompt = false

        package init(transfer: HTTPRequest, form: SharedForm = .standard, acceptance: Acceptance = .standard) {
            self.transfer = transfer
            sharedForm = form
            self.acceptance = acceptance
        }

        package var form: DecodeOptions {
            get { sharedForm.form }
            set { sharedForm = SharedForm(newValue) }
        }

        /// Whether the parts may hold the last reference to objects of the application.
        fileprivate var holdsObjects: Bool {
            bodyWork != nil || lookup != nil || claiming != nil || keeper != nil || pixelKeeper != nil || search != nil
                || transfer.hasAppTransport || sharedForm.form.transforms != nil
        }

        /// - Parameter transfer: in place of the other's.
        fileprivate init(copying other: Parts, transfer: HTTPRequest? = nil) {
            self.transfer = transfer ?? other.transfer
            priority = other.priority
            wantsPixels = other.wantsPixels
            sharedForm = other.sharedForm
            wantsProgress = other.wantsProgress
            wantsPreviews = other.wantsPreviews
            wantsFacts = other.wantsFacts
            endsEarly = other.endsEarly
            continuesInBackground = other.continuesInBackground
            queueLimit = other.queueLimit
            totalLimit = other.totalLimit
            maxAttempts = other.maxAttempts
            acceptance = other.acceptance
            bodyWork = other.bodyWork
            lookup = other.lookup
            claiming = other.claiming
            keeper = other.keeper
            pixelKeeper = other.pixelKeeper
            search = other.search
            isStage = other.isStage
            isPrompt = other.isPrompt
        }
    }

    private var parts: Parts

    /// - Parameter parts: not changed any more by the caller.
    package init(_ parts: Parts) { self.parts = parts }

    package init(transfer: HTTPRequest) { self.init(Parts(transfer: transfer)) }

    package subscript<Part>(dynamicMember part: ReferenceWritableKeyPath<Parts, Part>) -> Part {
        @inline(__always) get { parts[keyPath: part] }
        @inline(__always) set { own()[keyPath: part] = newValue }
    }

    /// Returns the parts for a change. They are copied first if another request shares them.
    private mutating func own() -> Parts {
        if !isKnownUniquelyReferenced(&parts) { parts = Parts(copying: parts) }
        return parts
    }
}

extension DownloadRequest {
    /// The lookup that the request makes, or would make if it needed one.
    var anyLookup: (any CacheLookup)? { parts.lookup ?? parts.claiming?.lookup }

    /// Lets nothing but the HTTP cache answer (RFC 9111 §5.2.1.7).
    mutating func useOnlyHTTPCache() {
        guard let asked = self.lookup as? HTTPCacheLookup else { return }
        self.transfer.headers.set("Cache-Control", to: "only-if-cached")
        self.lookup = HTTPCacheLookup(asked.cache, self.transfer, asked.wishes, key: asked.key)
    }

    /// Lets nothing but the HTTP cache answer, however stale its entry.
    mutating func useOnlyStored() {
        guard let asked = self.lookup as? HTTPCacheLookup else { return }
        self.lookup = HTTPCacheLookup(asked.cache, self.transfer, asked.wishes.union(.onlyStored), key: asked.key)
    }

    /// The memory of the request, if that may hold the last reference to objects of the application, which must be
    /// released without a lock: their release may call the library.
    var memoryToRelease: AnyObject? { parts.holdsObjects ? parts : nil }

    /// Returns this request with another transfer.
    func with(transfer: HTTPRequest) -> DownloadRequest { DownloadRequest(Parts(copying: parts, transfer: transfer)) }

    /// Hash key of the request: equal for requests that may share a transfer, and usually different for others.
    var hashKey: UInt64 { hashKey(withTransfer: parts.transfer.hashKey) }

    /// - Parameter hashKey: that of the transfer.
    func hashKey(withTransfer hashKey: UInt64) -> UInt64 {
        var hashKey = hashKey
        // An optional lookup has the key 0, like none: such requests may share a transfer.
        hashKey = (hashKey ^ (parts.bodyWork?.hashKey ?? 0)) &* 0x100_0000_01b3
        return (hashKey ^ (parts.lookup?.hashKey ?? 0)) &* 0x100_0000_01b3
    }

    /// See `HTTPRequest.isShareable`.
    var isShareable: Bool { parts.transfer.isShareable }
}
