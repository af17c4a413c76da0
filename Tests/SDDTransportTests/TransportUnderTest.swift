import SDDBase
import SDDTransport
import Synchronization
import TestSupport

/// A `CurlTransport` with the test as its delegate: gives it commands, collects its events. Any thread.
final class TransportUnderTest: Sendable {
    let transport: CurlTransport
    private let inbox = Inbox()
    private let next = Atomic<UInt64>(1)

    init(
        _ configuration: TransportConfiguration = TransportConfiguration(), time: any TimeSource = SystemTime()
    ) throws(TransportError) {
        transport = CurlTransport(configuration: configuration, time: time)
        try transport.start(delegate: inbox)
    }

    deinit { end() }

    /// More than once is fine.
    func end() {
        transport.stop()
        transport.join()
    }

    @discardableResult
    func start(_ request: HTTPRequest) -> TransferID { start([request])[0] }

    /// All in one turn of the loop.
    @discardableResult
    func start(_ requests: [HTTPRequest]) -> [TransferID] {
        let ids = requests.map { _ in TransferID(next.add(1, ordering: .relaxed).oldValue) }
        inbox.add(zip(ids, requests).map { .start($0, $1) })
        transport.wake()
        return ids
    }

    func cancel(_ ids: [TransferID]) {
        inbox.add(ids.map { .cancel($0) })
        transport.wake()
    }

    /// Returns once the transport has taken every command given so far.
    func waitUntilTaken() -> Bool { inbox.waitUntilTaken() }

    var events: [TransferEvent] { inbox.events.all.flatMap { $0 } }

    /// One element for each call of `handle`.
    var batches: [[TransferEvent]] { inbox.events.all }

    func events(of id: TransferID) -> [TransferEvent] { events.filter { $0.id == id } }

    func wait(for id: TransferID, until condition: (TransferEvent) -> Bool) -> TransferEvent? {
        let batch = inbox.events.wait { batch in batch.contains { $0.id == id && condition($0) } }
        return batch?.first { $0.id == id && condition($0) }
    }

    func waitForEnd(of id: TransferID) throws -> TransferEnd {
        guard case .finished(_, let end) = wait(for: id, until: \.isEnd) else { throw NoEnd(id: id) }
        return end
    }

    /// Starts it and waits for its end.
    func run(_ request: HTTPRequest) throws -> TransferEnd { try waitForEnd(of: start(request)) }

    /// The body of a transfer that is to go well.
    func body(of request: HTTPRequest) throws -> [UInt8] { try run(request).bytes() }

    /// The error of a transfer that is to fail.
    func failure(of request: HTTPRequest) throws -> TransportError { try run(request).failure() }

    struct NoEnd: Error { let id: TransferID }
}

private final class Inbox: TransportDelegate {
    let events = Recorder<[TransferEvent]>()
    private let commands = Monitor<[TransportCommand]>([])

    func add(_ new: [TransportCommand]) { commands.withLock { $0 += new } }

    func waitUntilTaken() -> Bool { commands.wait(milliseconds: 30_000) { $0.isEmpty ? true : nil } ?? false }

    func takeCommands(into taken: inout [TransportCommand]) {
        taken += commands.withLock { commands in
            defer { commands = [] }
            return commands
        }
        commands.broadcast()
    }

    func handle(_ events: [TransferEvent]) { self.events.record(events) }
}

extension TransferEvent {
    var id: TransferID {
        switch self {
        case .response(let id, _), .received(let id, _), .finished(let id, _): id
        }
    }

    var isEnd: Bool { if case .finished = self { true } else { false } }
    var head: ResponseHead? { if case .response(_, let head) = self { head } else { nil } }
    var received: Int64? { if case .received(_, let count) = self { count } else { nil } }
}

extension TransferEnd {
    struct Unexpected: Error { let end: TransferEnd }

    func bytes() throws -> [UInt8] { Array(try result.get().pointer) }

    func failure() throws -> TransportError {
        guard case .failure(let error) = result else { throw Unexpected(end: self) }
        return error
    }
}

extension HTTPRequest {
    /// A GET, as a rule.
    init(
        to url: String, method: String = "GET", headers: [(String, String)] = [], body: String? = nil,
        verifies: Bool = true
    ) throws {
        var fields = HTTPFields()
        for (name, value) in headers { fields.set(name, to: value) }
        var text = url
        let checked = try text.withUTF8 { (bytes) throws(ImageURL.Flaw) in
            try ImageURL(checking: bytes, allowsFiles: true)
        }
        let bytes = body.flatMap { body in Array(body.utf8).withUnsafeBytes { Bytes(copying: $0) } }
        self.init(url: checked, method: method, headers: fields, body: bytes, verifiesCertificate: verifies)
    }
}
