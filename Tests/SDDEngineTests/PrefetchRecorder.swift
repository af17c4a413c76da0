import SDDBase
import SDDCoders

@testable import SDDEngine

/// An application that records the events of a list.
final class PrefetchRecorder: AppCallbacks {
    private struct Record {
        var told: [String] = []
        var tokens: Set<UInt64> = []
        var reports: [PrefetchReport] = []
    }

    private let state = Monitor(Record())
    private let onStep: @Sendable (UInt64) -> Void

    init(onStep: @escaping @Sendable (UInt64) -> Void = { _ in }) { self.onStep = onStep }

    func progressed(token: UInt64, received: Int64, expected: Int64) { tell("progress", token) }
    func learned(_ facts: ImageFacts, token: UInt64) { tell("facts", token) }
    func previewed(_ result: DownloadResult, token: UInt64) { tell("preview", token) }
    func completed(_ result: DownloadResult, token: UInt64) { tell("completed", token) }
    func released() { state.withLock { $0.told.append("released") } }

    func prefetched(_ index: Int, _ result: DownloadResult, token: UInt64) {
        tell("\(index)\(result.error == nil ? "" : " failed")", token)
        onStep(token)
    }

    /// Adds the counts to the text of the URL before them.
    func prefetchProgressed(_ counts: PrefetchCounts, token: UInt64) {
        state.withLock { state in
            let last = state.told.popLast() ?? "nothing"
            state.told.append("\(last) \(Self.text(counts))")
        }
    }

    func prefetchEnded(_ report: PrefetchReport, token: UInt64) {
        state.withLock { $0.reports.append(report) }
        tell("end \(Self.text(report.counts))\(report.isCancelled ? " cancelled \(report.cancelled)" : "")", token)
    }

    private func tell(_ text: String, _ token: UInt64) {
        state.withLock {
            $0.told.append(text)
            $0.tokens.insert(token)
        }
    }

    private static func text(_ counts: PrefetchCounts) -> String {
        "\(counts.finished)/\(counts.skipped)/\(counts.total)"
    }

    var told: [String] { state.withLock { $0.told } }
    var tokens: Set<UInt64> { state.withLock { $0.tokens } }
    var reports: [PrefetchReport] { state.withLock { $0.reports } }
}
