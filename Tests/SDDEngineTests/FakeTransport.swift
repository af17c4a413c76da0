import SDDBase
import SDDTransport

/// A transport whose network is the test: the test pulls the commands and makes up the answers.
final class FakeTransport: Transport {
    private struct State {
        var delegate: (any TransportDelegate)?
        var wakes = 0
        var isStopped = false
        var isJoined = false
    }

    private let state = Monitor(State())
    private let failure: TransportError?

    init(failingToStart failure: TransportError? = nil) { self.failure = failure }

    func start(delegate: any TransportDelegate) throws(TransportError) {
        if let failure { throw failure }
        state.withLock { $0.delegate = delegate }
    }

    func wake() { state.withLock { $0.wakes += 1 } }
    func stop() { state.withLock { $0.isStopped = true } }

    func join(milliseconds: Int64) { join() }

    func join() {
        state.withLock {
            $0.isJoined = true
            $0.delegate = nil
        }
    }

    var wakes: Int { state.withLock { $0.wakes } }
    var isEnded: Bool { state.withLock { $0.isStopped && $0.isJoined } }

    private var delegate: (any TransportDelegate)? { state.withLock { $0.delegate } }

    /// One turn of the loop: what the downloader orders.
    func turn() -> [TransportCommand] {
        var commands: [TransportCommand] = []
        delegate?.takeCommands(into: &commands)
        return commands
    }

    /// One turn, answered: every transfer that is started brings `body` at once.
    func answerAll(with body: [UInt8], status: Int32 = 200) {
        for case .start(let id, _) in turn() { answer(id, with: body, status: status) }
    }

    func answer(_ id: TransferID, with body: [UInt8], status: Int32 = 200) {
        report([.response(id, ResponseHead(status: status, expectedBytes: Int64(body.count)))])
        finish(id, with: body, status: status)
    }

    func finish(_ id: TransferID, with body: [UInt8], status: Int32 = 200) {
        guard let bytes = body.withUnsafeBytes({ Bytes(copying: $0) }) else { return }
        report([.finished(id, TransferEnd(result: .success(bytes), status: status, timings: TransferTimings()))])
    }

    func report(_ events: [TransferEvent]) { delegate?.handle(events) }
}
