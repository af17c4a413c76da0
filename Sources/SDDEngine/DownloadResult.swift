package import SDDBase
package import SDDCoders
package import SDDTransport

/// What one request came to.
package struct DownloadResult: Sendable {
    package var image: Image?
    package var bytes: Bytes?
    package var error: DownloadError?
    package var httpStatus: Int32
    package var timings: DownloadTimings

    package init(
        image: Image? = nil, bytes: Bytes? = nil, error: DownloadError? = nil, httpStatus: Int32 = 0,
        timings: DownloadTimings = DownloadTimings()
    ) {
        self.image = image
        self.bytes = bytes
        self.error = error
        self.httpStatus = httpStatus
        self.timings = timings
    }
}

/// Durations of one request's stages, in microseconds; 0 for a stage that did not happen.
package struct DownloadTimings: Sendable, Equatable {
    package var queue: Int64 = 0
    package var transfer = TransferTimings()
    package var decode: Int64 = 0
    package var total: Int64 = 0

    package init() {}
}
