internal import SDDBase
internal import SDDEngine
internal import SDDTransport

extension Result where Failure == DownloadError {
    /// Whether the URL can be passed back as a string: false if it is NULL, too long or not UTF-8.
    func hasReadableURL(_ url: UnsafePointer<CChar>?) -> Bool {
        switch self {
        case .success: return true
        case .failure(let error):
            // The request was refused before its URL was checked.
            if error.code == .invalidOperation { return isReadable(url) }
            return ![.urlNull, .urlTooLong, .urlNotUTF8].contains(error.detail)
        }
    }
}

private func isReadable(_ url: UnsafePointer<CChar>?) -> Bool {
    guard let bytes = bytes(of: url, limit: ImageURL.maxLength), bytes.count <= ImageURL.maxLength else { return false }
    return String(validating: bytes, as: UTF8.self) != nil
}
