package import SDDBase
package import SDDCoders
package import SDDTransport

/// The outcome of one request. A class, so that it passes between queues by reference. Immutable.
package final class DownloadResult: Sendable {
    package let image: Image?
    /// The memory reserved for the image until it is delivered.
    let reserved: (any MemoryReserved)?
    package let bytes: Bytes?
    package let error: DownloadError?
    package let stage: Stage
    package let response: Response?
    /// The status that the request was judged by, from the response or from the application's response modifier; 0 for
    /// none.
    package let httpStatus: Int32
    package let origin: Origin
    /// True if a cache had only the original, from which the image was made.
    let isOfOriginal: Bool
    /// The application's data that is stored with the cache entry.
    package let extended: Bytes?
    /// True if nothing proves that the body is complete.
    package let isEndUnproven: Bool
    /// True if the image has been through the transforms of its load.
    package let isTransformed: Bool
    package let timings: DownloadTimings
    package let metrics: DownloadMetrics
    /// The URLs of a load that failed.
    package let failures: [SourceFailure]
    /// Why a load that waited for its entries to be on disk has not stored them; nil if it has, or did not wait.
    package let storeFailure: StoreFailure?
    /// True if there is no error and no failed URL.
    package let isPlain: Bool
    /// True if another result follows.
    private let isInterim: Bool
    /// The time at which the result was decided, in microseconds of the monotonic clock.
    package let ended: Int64

    /// Approximate number of bytes that the result keeps in memory. An image's encoded bytes share the memory of the
    /// body.
    var heldBytes: Int { image?.memoryCost ?? bytes?.count ?? 0 }

    init(
        image: Image? = nil, reserved: (any MemoryReserved)? = nil, bytes: Bytes? = nil, error: DownloadError? = nil,
        stage: Stage = .none,
        response: Response? = nil, httpStatus: Int32? = nil, origin: Origin = .network, isOfOriginal: Bool = false,
        extended: Bytes? = nil, isEndUnproven: Bool = false, isTransformed: Bool = false,
        timings: DownloadTimings = DownloadTimings(),
        metrics: DownloadMetrics = DownloadMetrics(), failures: [SourceFailure] = [], storeFailure: StoreFailure? = nil,
        isInterim: Bool = false,
        ended: Int64
    ) {
        self.image = image
        self.reserved = reserved
        self.bytes = bytes
        self.error = error
        // A pattern copies nothing of the error, as a comparison would.
        if case .some = error {
            (self.stage, isPlain) = (stage, false)
        } else {
            (self.stage, isPlain) = (.none, failures.isEmpty)
        }
        self.response = response
        self.httpStatus = httpStatus ?? response?.status ?? 0
        self.origin = origin
        self.isOfOriginal = isOfOriginal
        self.extended = extended
        self.isEndUnproven = isEndUnproven
        self.isTransformed = isTransformed
        self.timings = timings
        self.metrics = metrics
        self.failures = failures
        self.storeFailure = storeFailure
        self.isInterim = isInterim
        self.ended = ended
    }

    /// Makes the result of a request that cannot be submitted.
    package convenience init(submitting error: DownloadError) {
        self.init(error: error, stage: .submit, ended: SystemTime().monotonicMicroseconds())
    }

    /// Gives back the memory reservation, because the application owns the image from now on. Where several requests
    /// get the same image, the first delivery counts.
    func delivered() { reserved?.shrink(to: 0) }

    /// A copy of the result without the image and the bytes.
    var withoutContent: DownloadResult {
        DownloadResult(
            error: error, stage: stage, response: response, httpStatus: httpStatus, origin: origin,
            isEndUnproven: isEndUnproven, isTransformed: isTransformed, timings: timings, metrics: metrics,
            storeFailure: storeFailure, ended: ended)
    }

    /// The result for one who wanted nothing but an entry on disk: a failure if there is none.
    var asStore: DownloadResult {
        guard error == nil, let storeFailure else { return self }
        return DownloadResult(
            error: storeFailure.error, stage: .decode, response: response, httpStatus: httpStatus, origin: .none,
            timings: timings, metrics: metrics, ended: ended)
    }

    /// A cached result as the end of a request whose server has said that it is still valid.
    func confirmed(by end: DownloadResult) -> DownloadResult {
        DownloadResult(
            image: image, reserved: reserved, bytes: bytes, response: end.response,
            httpStatus: end.httpStatus == 304 ? nil : end.httpStatus,
            origin: origin, extended: extended, isTransformed: isTransformed, timings: end.timings,
            metrics: end.metrics, ended: end.ended)
    }

    /// True if more results follow.
    package var isPreview: Bool { isInterim || image?.isPreview ?? false }

    /// The source of the result: SDD_ORIGIN_ numbers of the header.
    package enum Origin: Int32, Sendable {
        /// Nothing was delivered.
        case none = 0
        case network, memory, disk, httpFresh, httpRevalidated, httpStale
    }

    /// The stage at which a request failed: SDD_STAGE_ numbers of the header.
    package enum Stage: Int32, Sendable {
        case none = 0
        case submit, queue, connect, response, body, decode
    }
}

/// Durations of one request's stages, in microseconds; 0 for a stage that did not happen.
package struct DownloadTimings: Sendable, Equatable {
    package var queue: Int64 = 0
    package var transfer = TransferTimings()
    package var decode: Int64 = 0
    /// Time until a cache had answered.
    package var cache: Int64 = 0
    /// Time from the finished image until it was on disk.
    package var store: Int64 = 0
    package var total: Int64 = 0
}

/// Transfer costs of one request.
package struct DownloadMetrics: Sendable, Equatable {
    package var transfer = TransferMetrics()
    /// Size of the body as handed out.
    package var bodyBytes: Int64 = 0
    package var attempts: Int32 = 0
    /// Bytes of the announced body that were not waited for.
    package var savedBytes: Int64 = 0
}
