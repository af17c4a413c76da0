import Glibc
import SDDBase
import SDDCoders

@testable import SDDEngine

/// An application that records its callbacks.
final class RecordingCallbacks: AppCallbacks {
    struct Record {
        var progress: [[Int64]] = []
        var facts: [ImageFacts] = []
        var previews: [DownloadResult] = []
        var cached: [DownloadResult] = []
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

    func learned(_ facts: ImageFacts, token: UInt64) {
        state.withLock { $0.facts.append(facts) }
        state.broadcast()
    }

    func previewed(_ result: DownloadResult, token: UInt64) {
        state.withLock {
            $0.previews.append(result)
            $0.calledAfterRelease = $0.calledAfterRelease || $0.releases > 0 || !$0.results.isEmpty
        }
        state.broadcast()
    }

    func foundCached(_ result: DownloadResult, token: UInt64) {
        state.withLock {
            $0.cached.append(result)
            $0.calledAfterRelease = $0.calledAfterRelease || $0.releases > 0 || !$0.results.isEmpty
        }
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

    /// Waits, with a long limit, until the request has ended and its callbacks were freed.
    func waitUntilReleased() -> Bool {
        state.wait(milliseconds: 30_000) { $0.releases > 0 ? true : nil } ?? false
    }

    func waitForPreviews(_ count: Int) -> Bool {
        state.wait(milliseconds: 30_000) { $0.previews.count >= count ? true : nil } ?? false
    }

    func waitForFacts() -> Bool {
        state.wait(milliseconds: 30_000) { $0.facts.isEmpty ? nil : true } ?? false
    }

    /// Waits, with a long limit, for that many progress reports.
    func waitForProgress(_ count: Int) -> Bool {
        state.wait(milliseconds: 30_000) { $0.progress.count >= count ? true : nil } ?? false
    }
}
