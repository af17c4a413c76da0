import SDDBase
import SDDCoders
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// Feeds a table and records its output. Every second request is a plain one, if it has only a URL of its own. Its clock
/// stands still until the test moves it. Transfers are numbered from 1 in the order of their first requests, and so are
/// the tokens of requests.
final class Driver {
    typealias Table = DownloadTable<NumberedListener>

    var table: Table
    var now: Int64 = 1_000_000
    private(set) var ended: [UInt64: DownloadResult] = [:]
    /// The tokens in the order of their ends.
    private(set) var endOrder: [UInt64] = []
    private(set) var progress: [UInt64: [[Int64]]] = [:]
    private(set) var facts: [UInt64: [ImageFacts]] = [:]
    private(set) var previews: [UInt64: [DownloadResult]] = [:]
    private(set) var notices: [Notice] = []
    private(set) var muted: [UInt64] = []
    /// The application's objects that were released without the lock, each once.
    private(set) var free: [BodyWork] = []
    private(set) var lastToken: UInt64 = 0
    /// The options that a decoder was last asked for, by transfer.
    private var asked: [UInt64: [DecodeOptions]] = [:]

    init(room: RoomLines = RoomLines(), _ set: (inout Table.Rules) -> Void = { _ in }) throws {
        var rules = Table.Rules()
        set(&rules)
        table = DownloadTable(rules: rules, room: room) { token, _ in NumberedListener(token) }
    }

    /// Passes one event to the table.
    func play<Outcome>(_ event: (inout Table) -> Outcome) -> Outcome {
        let outcome = event(&table)
        let batch = table.outbox.takeBatch()
        muted += batch.muted.map(\.token)
        for object in batch.released {
            let work = (object as? Job<NumberedListener>)?.bodyWork ?? (object as? PlainModel)?.request.bodyWork
            if let work, !free.contains(where: { $0 === work }) { free.append(work) }
        }
        for end in batch.stageEnds { ended(end.result, end.listener.token) }
        for event in batch.events {
            switch event {
            case .end(let listener, let result): ended(result, listener.token)
            case .progress(let listener, let received, let expected):
                progress[listener.token, default: []].append([received, expected])
            case .facts(let listener, let facts):
                let token = listener.token
                #expect(ended[token] == nil, "request \(token) has ended")
                self.facts[token, default: []].append(facts)
            case .preview(let listener, let result):
                let token = listener.token
                #expect(ended[token] == nil, "request \(token) has ended")
                previews[token, default: []].append(result)
            case .notice(let notice, _): notices.append(notice)
            case .cached, .prefetch: Issue.record("only loads and lists have such events")
            }
        }
        return outcome
    }

    private func ended(_ result: DownloadResult, _ token: UInt64) {
        #expect(ended[token] == nil, "request \(token) has ended twice")
        ended[token] = result
        endOrder.append(token)
    }

    func error(of token: UInt64) -> DownloadError? { ended[token]?.error }

    func job(of token: UInt64) -> Job<NumberedListener>? { table.job(of: token) }
    func effectivePriority(of token: UInt64) -> Priority? {
        // The table would make the job of a plain request that is looked at.
        table.jobs.plain(of: token)?.model.request.priority ?? table.job(of: token)?.priority
    }

    /// For the walk alone, which has compared them.
    func forgetEnds() {
        ended = [:]
        endOrder = []
        notices = []
    }
}

// MARK: - Requests

extension Driver {
    @discardableResult
    func submit(_ request: DownloadRequest) -> UInt64 {
        lastToken += 1
        if lastToken % 2 == 1, let plain = Sample.plain(request) {
            plain.accepted(as: lastToken, at: now)
            play { $0.submitted(plain, at: now) }
            return lastToken
        }
        play { $0.submitted(request, token: lastToken, listener: NumberedListener(lastToken), at: now) }
        return lastToken
    }

    /// Submits a request for the picture of that number at a host.
    @discardableResult
    func submit(
        _ number: Int, host: String = "host", priority: Priority = .normal, pixels: Bool = true,
        change: (inout DownloadRequest) throws -> Void = { _ in }
    ) throws -> UInt64 {
        var request = try Sample.request("http://\(host)/\(number)")
        request.priority = priority
        request.wantsPixels = pixels
        try change(&request)
        return submit(request)
    }

    @discardableResult
    func cancel(_ token: UInt64) -> Bool? {
        // As above.
        let job = table.jobs.plain(of: token) == nil ? table.job(of: token) : nil
        return play { $0.cancelled(token, at: now) } ? job?.handlers.isEmpty ?? true : nil
    }

    func cancelAll() { play { $0.cancelledAll(at: now) } }

    @discardableResult
    func setPriority(_ priority: Priority, of token: UInt64) -> Bool {
        play { $0.prioritySet(priority, of: token, at: now) }
    }

    func setRules(_ set: (inout Table.Rules) -> Void) { play { $0.rulesChanged(at: now, set) } }

    func suspend(_ isSuspended: Bool) { play { $0.suspended(isSuspended, at: now) } }

    func enterBackground(grace: Int64) { play { $0.enteredBackground(grace: grace, at: now) } }

    func enterForeground() { play { $0.enteredForeground(at: now) } }

    func closing(cancels: Bool) { play { $0.closing(cancels: cancels, at: now) } }

    func close() { play { $0.closed(at: now) } }
}

// MARK: - Transport

extension Driver {
    /// Runs one turn of the transport's loop, and returns its commands and the time of the next turn.
    func turn() -> (commands: [Order], deadline: Int64) {
        var commands: [TransportCommand] = []
        let deadline = play { $0.transportAsks(for: &commands, at: now) }
        return (commands.map { Order($0) }, deadline)
    }

    func commands() -> [Order] { turn().commands }

    func report(_ event: TransferEvent) { play { $0.transportReports(event, at: now) } }

    func respond(_ id: UInt64, _ status: Int32 = 200, type: String = "image/png", expected: Int64 = -1) {
        let response = Sample.response(status, type: type)
        report(.response(TransferID(id), ResponseHead(response: response, expectedBytes: expected)))
    }

    func receive(_ id: UInt64, _ count: Int64) { report(.received(TransferID(id), count)) }

    func finish(_ id: UInt64, size: Int = 1) { finish(id, .success(Sample.body(size))) }

    func finish(_ id: UInt64, _ result: Result<Bytes, TransportError>) {
        let response = table.jobs[id]?.response
        report(.finished(TransferID(id), TransferEnd(result: result, response: response, metrics: Self.metrics)))
    }

    /// Delivers a good response and its body.
    func answer(_ id: UInt64, size: Int = 1) {
        respond(id, expected: Int64(size))
        finish(id, size: size)
    }

    /// The metrics of every transfer here.
    static let metrics: TransferMetrics = {
        var metrics = TransferMetrics()
        (metrics.requestBytes, metrics.headerBytes, metrics.bodyBytes, metrics.connectionsOpened) = (100, 20, 3, 1)
        return metrics
    }()

    func fail(_ id: UInt64, _ kind: TransportError.Kind = .connectionLost) {
        finish(id, .failure(TransportError(kind, message: "lost")))
    }

    /// Runs one transfer after the other, each to a failure, and returns the order in which they were started.
    func startOrder() -> [UInt64] {
        var order: [UInt64] = []
        var started = commands().started
        while !started.isEmpty {
            order += started
            for id in started { fail(id) }
            started = commands().started
        }
        return order
    }
}

// MARK: - Decode threads

extension Driver {
    func nextWork() -> DecodeWork? {
        let work = play { $0.decoderAsks(at: now) }
        if let work, case .decode(let forms, _) = work.step { asked[work.id.number] = forms }
        return work
    }

    func decoded(_ id: UInt64, failure: CoderError.Kind? = nil, facts: ImageFacts? = nil) {
        let pictures: [FormedPicture] = asked[id, default: [DecodeOptions()]].map { form in
            (form, .success(Self.picture(in: form)))
        }
        let outcome =
            failure.map { Decoded.failure(CoderError($0)) } ?? .success(PictureStream.Step(pictures: pictures))
        play { $0.decoded(TransferID(id), outcome, facts, at: now) }
    }

    func foundInMemory(_ id: UInt64, _ image: Image) {
        let form = asked[id]?.first ?? DecodeOptions()
        play { $0.foundInMemory(TransferID(id), form, image, at: now) }
    }

    private static func picture(in form: DecodeOptions) -> Image {
        // The process ends here if there is no memory.
        let pixels = PixelBuffer(width: 1, height: 1, format: form.format)!
        return Image(pixels: pixels, format: .png, bytes: Bytes(adopting: nil, count: 0))
    }

    /// Makes a step of the stream, with the stream itself.
    private func advance(_ work: DecodeWork, _ stream: PictureStream, _ part: DecodeWork.Part) {
        let outcome = Result<PictureStream.Step, CoderError> { () throws(CoderError) in
            try stream.read(
                work.bytes, forms: part.forms, isLast: false, previewScans: part.wantsPreviews ? part.leastScans : nil,
                endsEarly: part.endsEarly)
        }
        play { $0.advanced(work.id, outcome, at: now) }
    }

    func processed(_ id: UInt64, _ outcome: BodyWork.Outcome) {
        play { $0.processed(TransferID(id), outcome, at: now) }
    }

    /// Does one piece of work, as a decode thread does, and returns the transfer it was for.
    @discardableResult
    func work() -> UInt64? {
        guard let work = nextWork() else { return nil }
        switch work.step {
        case .decode: decoded(work.id.number)
        case .advance(let stream, let part): advance(work, stream, part)
        case .process(let bodyWork, let response):
            processed(work.id.number, bodyWork.run(on: work.bytes, response: response))
        }
        return work.id.number
    }
}
