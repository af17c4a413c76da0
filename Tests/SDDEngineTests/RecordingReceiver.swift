import Glibc
import SDDBase

@testable import SDDEngine

/// A host that writes down what it is told.
final class RecordingReceiver: Receiver {
    struct Record {
        var progress: [[Int64]] = []
        var results: [DownloadResult] = []
        var token: UInt64?
        var releases = 0
        var calledAfterRelease = false
        var thread: ThreadIdentity?
    }

    private let state = Monitor(Record())
    private let onProgress: @Sendable (UInt64) -> Void
    private let onCompleted: @Sendable (DownloadResult) -> Void

    init(
        onProgress: @escaping @Sendable (UInt64) -> Void = { _ in },
        onCompleted: @escaping @Sendable (DownloadResult) -> Void = { _ in }
    ) {
        self.onProgress = onProgress
        self.onCompleted = onCompleted
    }

    func progressed(token: UInt64, received: Int64, expected: Int64) {
        state.withLock {
            $0.progress.append([received, expected])
            $0.calledAfterRelease = $0.calledAfterRelease || $0.releases > 0
        }
        state.broadcast()
        onProgress(token)
    }

    func completed(_ result: DownloadResult, token: UInt64) {
        state.withLock {
            $0.results.append(result)
            $0.token = token
            $0.thread = .current
            $0.calledAfterRelease = $0.calledAfterRelease || $0.releases > 0
        }
        onCompleted(result)
    }

    func released() {
        state.withLock { $0.releases += 1 }
        state.broadcast()
    }

    var record: Record { state.withLock { $0 } }

    /// Waits, with a long limit, until the request is over.
    func waitUntilReleased() -> Bool {
        state.wait(milliseconds: 30_000) { $0.releases > 0 ? true : nil } ?? false
    }

    /// Waits, with a long limit, until so many progress reports have come.
    func waitForProgress(_ count: Int) -> Bool {
        state.wait(milliseconds: 30_000) { $0.progress.count >= count ? true : nil } ?? false
    }
}
