internal import CCurl
internal import SDDBase

/// The requests that libcurl may keep back until a connection is free, or until it knows whether one can be shared.
/// Versions before 8.14 take one of them up at each event; if that one has to wait on, the others are not taken up, and
/// may be forgotten until their connect timeout. So when nothing happens, the loop has libcurl take up each of them.
/// 8.14.0 ends the reason for this.
/// thread: sdd-net
struct WaitingRequests {
    /// The most that are taken up at once.
    private static let mostAtOnce = 256

    private let isNeeded: Bool
    /// The numbers of transfers that have neither opened a socket nor got a connection in this hop.
    private var waiting: Set<UInt64> = []
    /// libcurl takes one request up when a handle is removed, whichever that is.
    private var removed: EasyHandle?

    init(isNeeded: Bool = CurlFeatures.forgetsWaitingRequests) { self.isNeeded = isNeeded }

    var isEmpty: Bool { waiting.isEmpty }

    mutating func begins(_ transfer: UInt64) {
        if isNeeded { waiting.insert(transfer) }
    }

    /// Called when a hop has a socket or a connection, and when it ends.
    mutating func ends(_ transfer: UInt64) {
        if !waiting.isEmpty { waiting.remove(transfer) }
    }

    /// Has libcurl take the waiting requests up in its next turn. Those that must wait on do so.
    mutating func takeUp(in multi: UnsafeMutableRawPointer) {
        if waiting.isEmpty { return }
        removed = removed ?? Self.emptyHandle()
        guard let removed else { return }
        for _ in 0..<min(waiting.count, Self.mostAtOnce) {
            guard curl_multi_add_handle(multi, removed.raw) == CURLM_OK else { return }
            curl_multi_remove_handle(multi, removed.raw)
        }
    }

    /// libcurl's handle for closing connections takes over from the one that was added last whether it may use signals.
    private static func emptyHandle() -> EasyHandle? {
        let handle = EasyHandle()
        try? handle?.set(CURLOPT_NOSIGNAL, true)
        return handle
    }
}
