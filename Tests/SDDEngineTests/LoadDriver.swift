import SDDBase
import SDDCaches
import SDDTransport

@testable import SDDCoders
@testable import SDDEngine

/// Drives a table of loads with a clock of the test's, and describes its decisions in words: "fetch a 0" is the first
/// URL of load a. It passes on the test's events and does nothing by itself.
final class LoadDriver {
    private(set) var table: LoadTable
    var now: Int64 = 1_000_000
    private(set) var results: [String: DownloadResult] = [:]
    /// The time limit of a load's last request, in microseconds.
    private(set) var limits: [String: Int64] = [:]
    /// The times at which the clocks are to be looked at.
    private(set) var looks: [Int64] = []
    /// The number of loads that were returned to be released.
    private(set) var released = 0
    /// The lookups that were made more urgent, by the load that has started them.
    private(set) var raised: [String] = []
    private var decided: [String] = []
    private var loads: [String: Load] = [:]
    private var names: [UInt64: String] = [:]
    private let fixture: CacheFixture

    init(policy: FailurePolicy = .sdWebImage, consults: Bool = false, judges: Bool = false) throws {
        fixture = try CacheFixture()
        table = LoadTable(failures: FailedURLs(policy: policy), consults: consults, judges: judges)
    }

    /// Takes the decisions of the table since the last call.
    func take() -> [String] {
        defer { decided = [] }
        return decided
    }

    // MARK: Events

    /// Submits a load. Without an image in memory, the rest of its lookup is on disk.
    func submit(_ name: String, _ plan: LoadPlan, held image: Image? = nil) {
        let listener = Listener(token: TokenSeat.makeSerial(), callbacks: NoCallbacks())
        names[listener.token] = name
        let load = Load(listener, plan)
        loads[name] = load
        let step: ImageCacheLookup.Step? = plan.lookup.map { _ in
            guard let image else { return .readWanted(fixture.disk, key: "k", ready: nil) }
            return .done(CacheHit(image: image, origin: .memory))
        }
        change { table, now, actions in table.submitted(load, step, at: now, &actions) }
    }

    /// Returns the names of the loads that are to be cancelled.
    func close() -> [String] { change { table, _, _ in table.closed() }.compactMap { names[$0] } }

    /// The content of a cache for an image.
    enum Content { case nothing, pixels, encoded }

    func answer(_ name: String, _ content: Content) {
        guard let load = loads[name] else { return }
        let hit: CacheHit? =
            switch content {
            case .nothing: nil
            case .pixels: CacheHit(image: Self.image, origin: .disk)
            case .encoded: CacheHit(body: Bytes(adopting: nil, count: 0), origin: .disk)
            }
        change { table, now, actions in
            if let lookup = load.plan.lookup { released += table.answered(lookup, hit, at: now, &actions).count }
        }
    }

    /// Ends the request that makes an image from the cache's content.
    func make(_ name: String, _ error: DownloadError? = nil, of original: Image? = nil) {
        let result = DownloadResult(
            image: original, error: error, stage: .queue, origin: .disk, isOfOriginal: original != nil, ended: now)
        let token = token(name)
        change { table, now, actions in table.requestEnded(token, result, retryAfter: nil, at: now, &actions) }
    }

    func consult(_ name: String, mayFetch: Bool) {
        let token = token(name)
        change { table, now, actions in table.consulted(token, mayFetch: mayFetch, at: now, &actions) }
    }

    func fetch(_ name: String, _ error: DownloadError? = nil, retryAfter: Int64? = nil) {
        let (result, token) = (fetched(error), token(name))
        change { table, now, actions in
            table.requestEnded(token, result, retryAfter: retryAfter, at: now, &actions)
        }
    }

    func lookAtClocks() { change { table, now, actions in table.clocksLookedAt(at: now, &actions) } }

    var nextDeadline: Int64 { table.nextDeadline() }

    func find(_ name: String) {
        let result = DownloadResult(origin: .memory, ended: now)
        let token = token(name)
        change { table, now, actions in table.foundMeanwhile(token, result, at: now, &actions) }
    }

    func judge(_ name: String, _ error: DownloadError, isBlocked: Bool?) {
        guard let load = loads[name] else { return }
        let result = fetched(error)
        change { table, now, actions in
            table.judged(load, result, isBlocked: isBlocked, retryAfter: nil, at: now, &actions)
        }
    }

    func store(_ name: String) {
        let token = token(name)
        change { table, now, actions in table.stored(token, at: now, &actions) }
    }

    func cancel(_ name: String) -> Bool {
        let token = token(name)
        return change { table, now, actions in table.cancelled(token, at: now, &actions) }
    }

    func setPriority(_ priority: Priority, of name: String) {
        let token = token(name)
        _ = change { table, _, actions in table.prioritySet(priority, of: token, &actions) }
    }

    /// Whether the read for a lookup that this load has started was withdrawn.
    func isWithdrawn(_ name: String) -> Bool { loads[name]?.wish?.isWithdrawn ?? false }

    func isBlocked(_ url: String) -> Bool { table.isBlocked(url, at: now) }

    private func token(_ name: String) -> UInt64 { loads[name]?.token ?? 0 }

    // The process ends here if there is no memory.
    static let image = Image(pixels: PixelBuffer(width: 1, height: 1)!, format: .png, bytes: nil)

    private func fetched(_ error: DownloadError?) -> DownloadResult {
        DownloadResult(error: error, stage: .body, origin: .network, ended: now)
    }

    private func change<Outcome>(
        _ event: (inout LoadTable, Int64, inout [LoadTable.Action]) -> Outcome
    ) -> Outcome {
        var actions: [LoadTable.Action] = []
        let outcome = event(&table, now, &actions)
        for action in actions {
            switch action {
            case .lookAtClocks(let time): looks.append(time)
            case .raise(let load, let priority): raised.append("\(names[load.token] ?? "?") \(priority)")
            case .release: break
            default: decided.append(word(for: action))
            }
        }
        return outcome
    }

    private func word(for action: LoadTable.Action) -> String {
        func name(_ load: Load) -> String { names[load.token] ?? "?" }
        switch action {
        case .ask(let load, _): return "ask \(name(load))"
        case .lookAtClocks, .raise, .release: return "?"
        case .look(let load, _, let limit):
            limits[name(load)] = limit
            return "look \(name(load)) \(load.source)"
        case .make(let load, _, let limit):
            limits[name(load)] = limit
            return "make \(name(load))"
        case .consult(let load): return "consult \(name(load))"
        case .fetch(let load, _, let limit):
            limits[name(load)] = limit
            return "fetch \(name(load)) \(load.source)"
        case .show(let load, let result): return "show \(name(load)) \(result.isPreview ? "and go on" : "?")"
        case .judge(let load, _): return "judge \(name(load)) \(load.source)"
        case .store(let load, _, let waits): return "store \(name(load))\(waits ? " first" : "")"
        case .cancelRequest(let load): return "cancel \(name(load))"
        case .finish(let load, let result):
            results[name(load)] = result
            return "finish \(name(load)) \(Self.word(for: result))"
        }
    }

    /// Returns the error's name, or the origin of the result.
    static func word(for result: DownloadResult) -> String {
        result.error.map { "\($0.code)" } ?? "\(result.origin)"
    }
}

extension LoadPlan {
    /// A plan for tests of the table alone, which only checks which parts are present.
    static func sample(
        _ urls: [String] = ["u"], options: RequestOptions = [], asks: Bool = true, stores: Bool = true,
        limit: Int64 = 0,
        makes levels: CacheLevels? = nil, hashKey: UInt64? = nil
    ) throws -> LoadPlan {
        let request = try Sample.request("http://host/")
        var plan = LoadPlan(
            sources: urls.map { url in
                Source(url: url, request: url.isEmpty ? .failure(.noURL) : .success(request))
            })
        let cache = ImageCache(memory: nil, disk: nil, counters: CacheCounters())
        plan.options = options
        plan.totalLimit = limit
        if asks {
            plan.lookup = ImageCacheLookup(
                cache, key: "k", form: DecodeOptions(), levels: .all, wantsImage: true, wantsBytes: false,
                hashKey: hashKey)
        }
        if stores { plan.store = Store(cache: cache, key: "k", levels: .all, isMade: false, original: nil) }
        if let levels { plan.store = Store(cache: cache, key: "k", levels: levels, isMade: true, original: nil) }
        return plan
    }
}

extension DownloadError {
    /// The error of the empty URL in `LoadPlan.sample`.
    static let noURL = DownloadError(.invalidURL, .urlEmpty, "no")
    static let badImage = DownloadError(.badImageData, .imageCorrupt, "no")
    static let lost = DownloadError(.connectionLost, .none, "no")
}

private final class NoCallbacks: AppCallbacks {
    func progressed(token: UInt64, received: Int64, expected: Int64) {}
    func learned(_ facts: ImageFacts, token: UInt64) {}
    func previewed(_ result: DownloadResult, token: UInt64) {}
    func completed(_ result: DownloadResult, token: UInt64) {}
    func released() {}
}
