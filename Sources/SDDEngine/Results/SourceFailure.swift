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
