internal import SDDBase
internal import SDDEngine

extension RequestDefaults {
    func url(_ string: UnsafePointer<CChar>?) throws(DownloadError) -> ImageURL {
        try url(checking: urlBytes(string))
    }

    /// Returns the bytes of a URL; of one that is too long, at least one byte more than is allowed. `nil` for NULL.
    func urlBytes(_ string: UnsafePointer<CChar>?) -> UnsafeBufferPointer<UInt8>? {
        guard let start = bytes(of: string, limit: ImageURL.maxLength) else { return nil }
        if start.count <= ImageURL.maxLength { return start }
        return bytes(of: string, limit: longestURL(from: start))
    }
}
