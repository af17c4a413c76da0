package import SDDBase
package import SDDCoders
package import SDDTransport

/// What one request came to. An object, so that it goes from queue to queue by reference. Immutable.
package final class DownloadResult: Sendable {
    package let image: Image?
    package let bytes: Bytes?
    package let error: DownloadError?
    package let httpStatus: Int32
    package let timings: DownloadTimings

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
