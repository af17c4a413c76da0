import Glibc
import SDDBase
import SDDCoders
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// Feeds a table and keeps what it answers.
final class Driver {
    private(set) var table: DownloadTable<UInt64>
    private(set) var ended: [UInt64: DownloadResult] = [:]
    private(set) var endCount = 0
    private(set) var progress: [UInt64: [[Int64]]] = [:]
    private(set) var decodes: [UInt64] = []
    private var lastToken: UInt64 = 0
    private var now: Int64 = 0
    private let picture: Image

    init(maxConcurrent: Int) throws {
        table = DownloadTable(maxConcurrent: maxConcurrent)
        let pixels = try #require(PixelBuffer(width: 1, height: 1))
        picture = Image(pixels: pixels, format: .png, bytes: Bytes(adopting: nil, count: 0))
    }

    func take(_ effects: [DownloadTable<UInt64>.Effect]) {
        now += 1
        for effect in effects {
            switch effect {
            case .end(let token, let result):
                ended[token] = result
                endCount += 1
            case .progress(let token, let received, let expected):
                progress[token, default: []].append([received, expected])
            case .decode(let id, _, _): decodes.append(id.number)
            case .wakeTransport: break
            }
        }
    }

    @discardableResult
    func submit(
        url: Int, priority: Priority = .normal, wantsPixels: Bool = true, wantsProgress: Bool = false,
        change: (inout HTTPRequest) -> Void = { _ in }
    ) -> UInt64 {
        lastToken += 1
        var text = "http://host/\(url)"
        // The text is a URL that the check takes.
        let checked = text.withUTF8 { try? ImageURL(checking: $0, allowsFiles: false) }
        guard let checked else { return 0 }
        var transfer = HTTPRequest(url: checked)
        change(&transfer)
        let request = DownloadRequest(
            transfer: transfer, priority: priority, wantsPixels: wantsPixels, wantsProgress: wantsProgress)
        var effects: [DownloadTable<UInt64>.Effect] = []
        table.submitted(request, token: lastToken, subscriber: lastToken, at: now, &effects)
        take(effects)
        return lastToken
    }

    @discardableResult
    func cancel(_ token: UInt64) -> Bool {
        var effects: [DownloadTable<UInt64>.Effect] = []
        let found = table.cancelled(token, at: now, &effects)
        take(effects)
        return found
    }

    func close() {
        var effects: [DownloadTable<UInt64>.Effect] = []
        table.closed(at: now, &effects)
        take(effects)
    }

    /// - Returns: whether the transport was woken.
    func setMaxConcurrent(_ count: Int) -> Bool {
        var effects: [DownloadTable<UInt64>.Effect] = []
        table.maxConcurrentChanged(to: count, &effects)
        return !effects.isEmpty
    }

    func ask() -> (cancelled: [UInt64], started: [UInt64]) {
        var commands: [TransportCommand] = []
        var effects: [DownloadTable<UInt64>.Effect] = []
        table.transportAsks(for: &commands, at: now, &effects)
        take(effects)
        var answer: (cancelled: [UInt64], started: [UInt64]) = ([], [])
        for command in commands {
            switch command {
            case .cancel(let id): answer.cancelled.append(id.number)
            case .start(let id, _): answer.started.append(id.number)
            }
        }
        return answer
    }

    func report(_ event: TransferEvent) {
        var effects: [DownloadTable<UInt64>.Effect] = []
        table.transportReports(event, at: now, &effects)
        take(effects)
    }

    func respond(_ id: UInt64, status: Int32, expected: Int64 = -1) {
        report(.response(TransferID(id), ResponseHead(status: status, expectedBytes: expected)))
    }

    func receive(_ id: UInt64, _ count: Int64) { report(.received(TransferID(id), count)) }

    func finish(_ id: UInt64, size: Int = 0) {
        let body = Bytes(adopting: size > 0 ? malloc(size) : nil, count: size)
        report(.finished(TransferID(id), TransferEnd(result: .success(body), status: 200, timings: .init())))
    }

    func fail(_ id: UInt64) {
        let error = TransportError(.connectionLost, message: "lost")
        report(.finished(TransferID(id), TransferEnd(result: .failure(error), status: 0, timings: .init())))
    }

    @discardableResult
    func decodeBegins(_ id: UInt64) -> Bool {
        var effects: [DownloadTable<UInt64>.Effect] = []
        let isWanted = table.decodeBegins(TransferID(id), &effects)
        take(effects)
        return isWanted
    }

    func decoded(_ id: UInt64, succeeds: Bool = true) {
        var effects: [DownloadTable<UInt64>.Effect] = []
        table.decoded(
            TransferID(id), succeeds ? .success(picture) : .failure(CoderError(.corrupt)), at: now, &effects)
        take(effects)
    }

    /// Runs one transfer after the other and gives the order they were started in.
    func startOrder() -> [UInt64] {
        var order: [UInt64] = []
        while let next = ask().started.first {
            order.append(next)
            fail(next)
        }
        return order
    }
}
