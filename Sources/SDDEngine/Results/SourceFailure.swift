/// The failure of one source of a load. Immutable.
package struct SourceFailure: Sendable {
    package let url: String
    package let error: DownloadError
    package let stage: DownloadResult.Stage
    package let httpStatus: Int32

    init(url: String, result: DownloadResult) {
        self.url = url
        error = result.error ?? .notCached
        stage = result.stage
        httpStatus = result.httpStatus
    }
}

/// Why a result is not on disk. A class, since few results have one, and all are passed on.
package final class StoreFailure: Sendable {
    package let error: DownloadError

    init(_ error: DownloadError) { self.error = error }
}
