internal import CSDD
internal import SDDBase
internal import SDDEngine

/// Results for calls that wait, which belong to the application.
enum OwnedResult {
    /// - Parameters:
    ///   - cached: the cached result, if its refresh has ended with an error.
    ///   - url: copied; left out if it is not UTF-8 or too long.
    static func make(
        _ result: DownloadResult, cached: DownloadResult? = nil, url: UnsafePointer<CChar>?
    ) -> UnsafeMutablePointer<sdd_result> {
        let kept = Result<Void, DownloadError>(result).hasReadableURL(url) ? url : nil
        return LentResult(
            result, token: 0, url: nil, ownURL: kept.map { CText(String(cString: $0)) }, cached: cached
        ).own()
    }
}

extension Result<Void, DownloadError> {
    fileprivate init(_ result: DownloadResult) {
        self = result.error.map { .failure($0) } ?? .success(())
    }
}
