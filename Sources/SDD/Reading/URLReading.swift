internal import SDDBase
internal import SDDEngine

extension RequestDefaults {
    /// - Parameter limit: the size of the largest body, for data: URLs; `nil` for the downloader's.
    func url(_ string: UnsafePointer<CChar>?, limit: Int64? = nil) throws(DownloadError) -> ImageURL {
        let limit = limit ?? self.maxBodyBytes
        return try url(checking: urlBytes(string, limit: limit), limit: limit)
    }

    /// Returns the bytes of a URL; of one that is too long, at least one byte more than is allowed. `nil` for NULL.
    func urlBytes(_ string: UnsafePointer<CChar>?, limit: Int64) -> UnsafeBufferPointer<UInt8>? {
        guard let start = bytes(of: string, limit: ImageURL.maxLength) else { return nil }
        if start.count <= ImageURL.maxLength { return start }
        return bytes(of: string, limit: Self.longestURL(from: start, limit: limit))
    }
}
