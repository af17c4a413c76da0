import SDDBase
import SDDTransport

@testable import SDDEngine

/// A loader whose loads end when the test says so. A load's name is the last component of its URL's path.
final class FakePrefetchLoader: PrefetchLoading {
    private struct State {
        var loads: [(name: String, token: UInt64, callbacks: any AppCallbacks)] = []
        var priorities: [String] = []
        var whenBegun: @Sendable () -> Void = {}
        var cancelled: [String] = []
        var last: UInt64 = 0
        var isClosed = false
        var endsAtOnce = false
    }

    private let state = Monitor(State())

    var isClosed: Bool {
        get { state.withLock { $0.isClosed } }
        set { state.withLock { $0.isClosed = newValue } }
    }

    var endsAtOnce: Bool {
        get { state.withLock { $0.endsAtOnce } }
        set { state.withLock { $0.endsAtOnce = newValue } }
    }

    var running: [String] { state.withLock { $0.loads.map(\.name).sorted() } }
    var cancelled: [String] { state.withLock { $0.cancelled } }
    /// The priority of each load when it began, and each later change: "a veryLow".
    var priorities: [String] { state.withLock { $0.priorities } }

    /// Sets a function that is called inside `prefetch`, before it returns the token.
    func whenBegun(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.whenBegun = body } }

    func prefetch(_ url: ImageURL, priority: Priority, callbacks: any AppCallbacks) -> UInt64? {
        if isClosed { return nil }
        let name = String(url.text.split(separator: "/").last ?? "")
        let token = state.withLock { state in
            state.last += 1
            state.priorities.append("\(name) \(priority)")
            if !state.endsAtOnce { state.loads.append((name, state.last, callbacks)) }
            return state.last
        }
        if endsAtOnce { Self.end(callbacks, token, nil) }
        let whenBegun = state.withLock { $0.whenBegun }
        whenBegun()
        return token
    }

    func cancel(_ token: UInt64) {
        state.withLock { state in
            if let load = state.loads.first(where: { $0.token == token }) { state.cancelled.append(load.name) }
        }
    }

    func setPriority(_ priority: Priority, of token: UInt64) {
        state.withLock { state in
            if let load = state.loads.first(where: { $0.token == token }) {
                state.priorities.append("\(load.name) \(priority)")
            }
        }
    }

    /// Ends the oldest load of that name.
    func end(_ name: String, _ code: DownloadError.Code? = nil) {
        let load = state.withLock { state in
            state.loads.firstIndex { $0.name == name }.map { state.loads.remove(at: $0) }
        }
        if let load { Self.end(load.callbacks, load.token, code) }
    }

    func endOne() {
        let load = state.withLock { $0.loads.popLast() }
        if let load { Self.end(load.callbacks, load.token, nil) }
    }

    private static func end(_ callbacks: any AppCallbacks, _ token: UInt64, _ code: DownloadError.Code?) {
        let error = code.map { DownloadError($0, .none, "") }
        callbacks.completed(DownloadResult(error: error, stage: .body, ended: 0), token: token)
        callbacks.released()
    }
}

/// A minimal loader on top of a downloader.
final class DownloadingLoader: PrefetchLoading {
    private let downloader: Downloader

    init(_ downloader: Downloader) { self.downloader = downloader }

    func prefetch(_ url: ImageURL, priority: Priority, callbacks: any AppCallbacks) -> UInt64? {
        var request = DownloadRequest(transfer: HTTPRequest(url: url))
        request.wantsPixels = false
        request.priority = priority
        return downloader.submit(.success(request), callbacks: callbacks, isImmediate: true)
    }

    func cancel(_ token: UInt64) { _ = downloader.cancel(token) }
    func setPriority(_ priority: Priority, of token: UInt64) { _ = downloader.setPriority(priority, of: token) }
}
