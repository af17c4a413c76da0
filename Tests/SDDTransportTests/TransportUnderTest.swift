import SDDBase
import SDDTransport
import Synchronization
import TestSupport

/// A `CurlTransport` with the test as its delegate: gives it commands and collects its events. Callable from any
/// thread.
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

    /// Ends the transport. May be called more than once.
    func end() {
        transport.stop()
        transport.join()
    }

    @discardableResult
    func start(_ request: HTTPRequest) -> TransferID { start([request])[0] }

    /// Starts all of them in one turn of the loop.
    @discardableResult
    func start(_ requests: [HTTPRequest], priority: Priority = .normal) -> [TransferID] {
        let ids = requests.map { _ in TransferID(next.add(1, ordering: .relaxed).oldValue) }
        give(zip(ids, requests).map { .start($0, $1, priority) })
        return ids
    }

    func cancel(_ ids: [TransferID]) { give(ids.map { .cancel($0) }) }

    /// Gives all commands in one turn of the loop.
    func give(_ commands: [TransportCommand]) {
        inbox.add(commands)
        transport.wake(.first)
    }

    /// Gives the commands at the first event that meets the condition: on sdd-net, before anything more is read.
    func give(_ commands: [TransportCommand], at condition: @escaping @Sendable (TransferEvent) -> Bool) {
        inbox.reaction.withLock { $0 = (condition, commands) }
    }

    /// Makes the delegate ask to be called again at that time.
    func ask(again deadline: Int64) { inbox.deadline.store(deadline, ordering: .sequentiallyConsistent) }

    /// The number of times the delegate has been asked for commands.
    var timesAsked: Int { inbox.timesAsked.load(ordering: .sequentiallyConsistent) }

    /// Returns once the loop has begun another turn, so that the current one has ended.
    func waitForATurn() -> Bool {
        // The wake-up may come during a turn that has asked already, and so may the next.
        let times = timesAsked
        for turn in 1...2 {
            give([])
            guard inbox.waitUntilAsked(after: times + turn - 1) else { return false }
        }
        return true
    }

    /// Returns once the transport has taken every command given so far.
    func waitUntilTaken() -> Bool { inbox.waitUntilTaken() }

    /// Returns once the delegate has been asked more than `times` times, without a wake-up.
    func waitForATurnWithoutWake(after times: Int) -> Bool { inbox.waitUntilAsked(after: times) }

    var events: [TransferEvent] { inbox.events.all.flatMap { $0 } }

    /// The events, one element for each call of `handle`.
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

    /// Starts a transfer and waits for its end.
    func run(_ request: HTTPRequest) throws -> TransferEnd { try waitForEnd(of: start(request)) }

    /// Runs a transfer that must succeed, and returns its body.
    func body(of request: HTTPRequest) throws -> [UInt8] { try run(request).bytes() }

    /// Runs a transfer that must fail, and returns its error.
    func failure(of request: HTTPRequest) throws -> TransportError { try run(request).failure() }

    struct NoEnd: Error { let id: TransferID }
}

private final class Inbox: TransportDelegate {
    let events = Recorder<[TransferEvent]>()
    let deadline = Atomic<Int64>(.max)
    let timesAsked = Atomic<Int>(0)
    let reaction = Monitor<(condition: @Sendable (TransferEvent) -> Bool, commands: [TransportCommand])?>(nil)
    private let commands = Monitor<[TransportCommand]>([])

    func add(_ new: [TransportCommand]) { commands.withLock { $0 += new } }

    func waitUntilTaken() -> Bool { commands.wait(milliseconds: 30_000) { $0.isEmpty ? true : nil } ?? false }

    func waitUntilAsked(after times: Int) -> Bool {
        let hasAsked: Bool? = commands.wait(milliseconds: 30_000) { _ in
            timesAsked.load(ordering: .sequentiallyConsistent) > times ? true : nil
        }
        return hasAsked ?? false
    }

    func takeCommands(into taken: inout [TransportCommand], for thread: NetworkThreads) -> Int64 {
        taken += commands.withLock { commands in
            defer { commands = [] }
            timesAsked.add(1, ordering: .sequentiallyConsistent)
            return commands
        }
        commands.broadcast()
        return deadline.load(ordering: .sequentiallyConsistent)
    }

    func handle(_ events: [TransferEvent], of thread: NetworkThreads) {
        let commands = reaction.withLock { reaction in
            guard let due = reaction, events.contains(where: due.condition) else { return [TransportCommand]() }
            reaction = nil
            return due.commands
        }
        // The loop asks for commands once more in this turn.
        add(commands)
        self.events.record(events)
    }
}

extension TransferEvent {
    var id: TransferID {
        switch self {
        case .response(let id, _), .received(let id, _), .body(let id, _), .finished(let id, _), .message(let id, _, _):
            id
        }
    }

    var isEnd: Bool { if case .finished = self { true } else { false } }
    var head: ResponseHead? { if case .response(_, let head) = self { head } else { nil } }
    var message: (LogLevel, String)? { if case .message(_, let level, let text) = self { (level, text) } else { nil } }
    var body: Bytes? { if case .body(_, let bytes) = self { bytes } else { nil } }
    var received: Int64? { if case .received(_, let count) = self { count } else { nil } }
}

extension ResponseHead {
    /// The status and the expected length.
    var summary: [Int64] { [Int64(response.status), expectedBytes] }
}

extension TransferEnd {
    struct Unexpected: Error { let end: TransferEnd }

    /// The status; 0 if there was no response.
    var status: Int32 { response?.status ?? 0 }

    func bytes() throws -> [UInt8] { Array(try result.get().pointer) }

    func failure() throws -> TransportError {
        guard case .failure(let error) = result else { throw Unexpected(end: self) }
        return error
    }
}

extension HTTPRequest {
    /// Makes a request, by default a GET.
    init(
        to url: String, method: String = "GET", headers: [(String, String)] = [], body: String? = nil,
        verifies: Bool = true, _ change: (inout TransferOptions.Values) -> Void = { _ in }
    ) throws {
        var fields = HTTPFields()
        for (name, value) in headers { fields.set(name, to: value) }
        var text = url
        let checked = try text.withUTF8 { (bytes) throws(ImageURL.Flaw) in
            try ImageURL(checking: bytes, allowsFiles: true)
        }
        let bytes = body.flatMap { body in Array(body.utf8).withUnsafeBytes { Bytes(copying: $0) } }
        var values = TransferOptions.Values()
        values.verifiesCertificate = verifies
        change(&values)
        self.init(url: checked, method: method, headers: fields, body: bytes, options: TransferOptions(values))
    }
}
