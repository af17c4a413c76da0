package import SDDBase
package import SDDCoders
package import SDDTransport

/// What one request came to. An object, so that it goes from queue to queue by reference. Immutable.
package final class DownloadResult: Sendable {
    package let image: Image?
    /// The room that the image takes among those that are not delivered.
    let reserved: (any MemoryReserved)?
    package let bytes: Bytes?
    package let error: DownloadError?
    package let stage: Stage
    package let response: Response?
    /// What the request was judged by: that of the response, or of the application's response modifier. 0: none.
    package let httpStatus: Int32
    package let origin: Origin
    /// A cache had the original alone, of which the image is made.
    let isOfOriginal: Bool
    /// The host's bytes, kept with a cache's entry.
    package let extended: Bytes?
    /// Nothing says that the body came whole.
    package let isEndUnproven: Bool
    /// The image has been through the transforms of its load.
    package let isTransformed: Bool
    package let timings: DownloadTimings
    package let metrics: DownloadMetrics
    /// Of a load: its URLs that came to nothing.
    package let failures: [SourceFailure]
    /// Another follows.
    private let isInterim: Bool
    /// When it was decided, in microseconds of the monotonic clock.
    package let ended: Int64

    /// Bytes that it keeps as long as it is there, about. An image's encoded bytes are those of the body.
    var heldBytes: Int { image?.memoryCost ?? bytes?.count ?? 0 }

    init(
        image: Image? = nil, reserved: (any MemoryReserved)? = nil, bytes: Bytes? = nil, error: DownloadError? = nil,
        stage: Stage = .none,
        response: Response? = nil, httpStatus: Int32? = nil, origin: Origin = .network, isOfOriginal: Bool = false,
        extended: Bytes? = nil, isEndUnproven: Bool = false, isTransformed: Bool = false,
        timings: DownloadTimings = DownloadTimings(),
        metrics: DownloadMetrics = DownloadMetrics(), failures: [SourceFailure] = [], isInterim: Bool = false,
        ended: Int64
    ) {
        self.image = image
        self.reserved = reserved
        self.bytes = bytes
        self.error = error
        self.stage = error == nil ? .none : stage
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
        self.isInterim = isInterim
        self.ended = ended
    }

    /// Of a request that cannot be made.
    package convenience init(submitting error: DownloadError) {
        self.init(error: error, stage: .submit, ended: SystemTime().monotonicMicroseconds())
    }

    /// The host has it: what it keeps is its own affair. Of an image that several get, the first one counts.
    func delivered() { reserved?.shrink(to: 0) }

    /// The same without image and bytes.
    var withoutContent: DownloadResult {
        DownloadResult(
            error: error, stage: stage, response: response, httpStatus: httpStatus, origin: origin,
            isEndUnproven: isEndUnproven, isTransformed: isTransformed, timings: timings, metrics: metrics,
            ended: ended)
    }

    /// More is to come.
    package var isPreview: Bool { isInterim || image?.isPreview ?? false }

    /// Where it comes from; SDD_ORIGIN_ of the header.
    package enum Origin: Int32, Sendable {
        case network = 0
        case memory, disk, httpFresh, httpRevalidated, httpStale
    }

    /// How far a request had come when it failed; SDD_STAGE_ of the header.
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
    /// Until a cache had answered.
    package var cache: Int64 = 0
    /// From the picture until it was on disk.
    package var store: Int64 = 0
    package var total: Int64 = 0

    package init() {}
}

/// What one request's transfer cost.
package struct DownloadMetrics: Sendable, Equatable {
    package var transfer = TransferMetrics()
    /// As handed out.
    package var bodyBytes: Int64 = 0
    package var attempts: Int32 = 0
    /// Of the announced body, what was not waited for.
    package var savedBytes: Int64 = 0

    package init() {}
}
