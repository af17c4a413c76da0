internal import SDDBase
internal import SDDEngine

/// Callbacks that keep the result for the thread that waits for it.
final class WaitingCallbacks: AppCallbacks {
    private struct State {
        var result: DownloadResult?
        var cached: DownloadResult?
    }

    private let state = Monitor(State())

    func foundCached(_ result: DownloadResult, token: UInt64) { state.withLock { $0.cached = result } }

    func completed(_ result: DownloadResult, token: UInt64) {
        state.withLock { $0.result = result }
        state.broadcast()
    }

    func wait() -> DownloadResult { state.wait { $0.result } }

    /// The result found in the cache while the server was asked to revalidate it.
    var cached: DownloadResult? { state.withLock { $0.cached } }
}
