import SDDBase
import SDDTransport

@testable import SDDEngine

/// A transport whose network is the test: the test takes the commands and makes up the responses.
final class FakeTransport: Transport {
    private struct State {
        var delegate: (any TransportDelegate)?
        var wakes = 0
        var deadline = Int64.max
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

    func wake(_ threads: NetworkThreads) { state.withLock { $0.wakes += 1 } }
    func stop() { state.withLock { $0.isStopped = true } }

    var isOwnThread: Bool { false }

    func join(milliseconds: Int64) { join() }

    func join() {
        state.withLock {
            $0.isJoined = true
            $0.delegate = nil
        }
    }

    var cookies: CookieJar? { nil }

    var wakes: Int { state.withLock { $0.wakes } }
    /// The time for which the downloader asked to be called again, at the last turn.
    var deadline: Int64 { state.withLock { $0.deadline } }
    var isEnded: Bool { state.withLock { $0.isStopped && $0.isJoined } }

    private var delegate: (any TransportDelegate)? { state.withLock { $0.delegate } }

    /// Runs one turn of the loop, and returns the downloader's commands.
    @discardableResult
    func turn() -> [TransportCommand] {
        var commands: [TransportCommand] = []
        let deadline = delegate?.takeCommands(into: &commands, for: .first) ?? .max
        state.withLock { $0.deadline = deadline }
        return commands
    }

    /// Runs one turn, and returns the transfers that it starts.
    func started() -> [TransferID] {
        turn().compactMap { if case .start(let id, _, _) = $0 { id } else { nil } }
    }

    /// Runs one turn, and completes every transfer that it starts with `body`.
    func answerAll(with body: [UInt8], status: Int32 = 200) {
        for id in started() { answer(id, with: body, status: status) }
    }

    func answer(_ id: TransferID, with body: [UInt8], status: Int32 = 200) {
        respond(id, status: status, expected: Int64(body.count))
        finish(id, with: body)
    }

    func respond(_ id: TransferID, status: Int32 = 200, expected: Int64 = -1) {
        report([.response(id, ResponseHead(response: Sample.response(status), expectedBytes: expected))])
    }

    func finish(_ id: TransferID, with body: [UInt8]) {
        guard let bytes = body.withUnsafeBytes({ Bytes(copying: $0) }) else { return }
        report([.finished(id, TransferEnd(result: .success(bytes), response: Sample.response()))])
    }

    func fail(_ id: TransferID) {
        report([.finished(id, TransferEnd(result: .failure(TransportError(.connectionLost, message: "lost"))))])
    }

    func report(_ events: [TransferEvent]) { delegate?.handle(events, of: .first) }
}

extension FakeTransport {
    /// Makes a downloader on this transport, whose transfers are 1, 2, and so on.
    func makeDownloader(
        isAppDriven: Bool = false, appTime: any TimeSource = SystemTime(),
        set: (inout DownloaderConfiguration) -> Void = { _ in }
    ) throws -> Downloader {
        var configuration = DownloaderConfiguration()
        if isAppDriven { configuration.delivery = .application }
        set(&configuration)
        let last = Monitor<UInt64>(0)
        return try Downloader.make(configuration, transport: self, appTime: appTime) {
            last.withLock { last in
                last += 1
                return last
            }
        }
    }
}

extension Downloader {
    /// Submits a request for the bytes of http://host/`path`.
    @discardableResult
    func submit(
        _ path: String, callbacks: any AppCallbacks, isImmediate: Bool = false,
        change: (inout DownloadRequest) throws -> Void = { _ in }
    ) throws -> UInt64? {
        var request = try Sample.request("http://host/\(path)")
        request.wantsPixels = false
        try change(&request)
        return submit(.success(request), callbacks: callbacks, isImmediate: isImmediate)
    }
}
