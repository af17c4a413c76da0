internal import CCurl
internal import Glibc

/// The transfers with blocked sinks, which are polled together. Owned by `CurlLoop`.
/// thread: sdd-net
struct SinkLine {
    private var transfers: [TransferID: CurlTransfer] = [:]

    var isEmpty: Bool { transfers.isEmpty }

    mutating func add(_ transfer: CurlTransfer) { transfers[transfer.id] = transfer }
    mutating func remove(_ id: TransferID) { transfers[id] = nil }
    mutating func removeAll() { transfers = [:] }

    /// Returns the transfers whose sinks may take bytes now, or have failed.
    func ready() -> [CurlTransfer] {
        let waiting = Array(transfers.values)
        var entries = waiting.map { pollfd(fd: $0.sinkDescriptor, events: Int16(POLLOUT), revents: 0) }
        guard poll(&entries, nfds_t(entries.count), 0) > 0 else { return [] }
        return zip(waiting, entries).filter { $1.revents != 0 }.map { $0.0 }
    }

    /// The entries for libcurl's poll, in addition to its sockets.
    var polled: [curl_waitfd] {
        transfers.values.map { curl_waitfd(fd: $0.sinkDescriptor, events: Int16(CURL_WAIT_POLLOUT), revents: 0) }
    }
}
