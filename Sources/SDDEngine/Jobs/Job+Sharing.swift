import SDDBase
import SDDTransport

extension Job {
    /// True if this job sends the same request, as far as the answer can depend on it. The parts mostly compare by the
    /// identity of their shared storage.
    func serves(_ other: DownloadRequest) -> Bool {
        original.url == other.transfer.url && original.method == other.transfer.method
            && original.headers == other.transfer.headers && original.options == other.transfer.options
            && original.appTransport === other.transfer.appTransport
            && original.cookies.hasSameBytes(as: other.transfer.cookies)
            && bodyWork == other.bodyWork
            && asksTheSame(as: other)
    }

    private func asksTheSame(as other: DownloadRequest) -> Bool {
        guard let caching else { return other.lookup?.isOptional ?? true }
        if let lookup = other.anyLookup, caching.lookup.isSame(as: lookup) { return true }
        // While a cache is being asked, or after it has answered, the shared answer would not be the network's.
        return caching.lookup.isOptional && other.lookup?.isOptional ?? true && !isAsking
            && caching.origin == .network
    }
}
