internal import Glibc
package import SDDCaches

extension DownloadError {
    static let notCached = DownloadError(
        .notCached, .none, "No cache has an entry for the request, and the network was not allowed.")
    static let cachedIsRight = DownloadError(
        .notModified, .none, "The entry in the HTTP cache is still valid, and the request asked for changes only.")
    static let confirmed = DownloadError(
        .notModified, .none, "The cached picture is still valid: the server confirmed it with status 304.")
    static let sameBytes = DownloadError(
        .notModified, .none, "The cached picture is still valid: the server sent the same bytes again.")
    static let nothingToStore = DownloadError(
        .cache, .cacheNothing, "There is nothing to store: no bytes, and no image that can be encoded.")

    /// The failure of a cache as a line of the log.
    func told(in directory: String?, count: Int64) -> String {
        // Safety: glibc's strerror gives a string of this thread's own, or a static one.
        let reason =
            systemError == 0 ? "" : unsafe strerror(systemError).map { unsafe " \(String(cString: $0))." } ?? ""
        let times = count > 1 ? " That is the last of \(count) failures since it was told." : ""
        return "Cache \(directory ?? "in memory"): \(message)\(reason)\(times)"
    }

    /// The error of a store as an errno; 0 if there was nothing to store.
    package var storeErrno: Int32 {
        if systemError != 0 { return systemError }
        return switch detail {
        case .cacheNothing: 0
        case .cacheTooLarge: EFBIG
        case .cacheUnsafe: EACCES
        case .cacheDropped: ECANCELED
        default: code == .noResources ? ENOMEM : EIO
        }
    }

    /// Makes the error that reports a failure of a disk cache.
    package init(_ error: CacheError) {
        switch error {
        case .system(let operation, let errno):
            let detail: Detail = operation.isReading ? .cacheRead : .cacheWrite
            self.init(.cache, detail, "The disk cache could not do its work: \(operation.rawValue) failed.")
            systemError = errno
        case .store(let operation):
            self.init(
                .cache, operation.isReading ? .cacheRead : .cacheWrite,
                "The application's entry store could not \(operation.rawValue).")
        case .unsafeDirectory:
            self.init(
                .cache, .cacheUnsafe, "The cache's directory belongs to another user, or others may write to it.")
        case .foreignFile(let name):
            self.init(
                .cache, .cacheForeign,
                "The directory is not that of a cache: \(shown(Array(name.utf8))) is a file of another program.")
        case .tooLarge: self.init(.cache, .cacheTooLarge, "It is larger than the whole cache may be.")
        case .noMemory: self.init(.noResources, .none, "There was no memory for an entry of the cache.")
        case .nothing: self = .nothingToStore
        case .dropped:
            self.init(.cache, .cacheDropped, "It was not written: the cache was destroyed, and the time was over.")
        }
    }
}

extension CacheError.Operation {
    fileprivate var isReading: Bool {
        switch self {
        case .open, .read, .list: true
        case .create, .write, .sync, .rename, .remove, .lock: false
        }
    }
}
