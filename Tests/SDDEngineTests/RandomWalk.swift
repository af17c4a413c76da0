import SDDBase
import SDDCoders
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// Plays random events to the table and to the naive model, and compares their outputs.
struct RandomWalk {
    let driver: Driver
    var model: NaiveTable
    var random: SeededRandom
    /// The times at which limits expire: no two are equal, since the order of such two is not specified.
    private var usedTimes: Set<Int64> = []

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        // Every second walk has ageing, faster or slower: it cannot be switched on later.
        let ageing: Int64 = [2000, 0, 10_000, 0][Int(seed % 4)]
        model = NaiveTable(maxConcurrent: 3, maxPerHost: 2, reserved: 1, ageing: ageing)
        // Every second walk retries requests that do not say how often.
        let retry = RetryPolicy(maxAttempts: seed % 2 == 0 ? 3 : 1, budget: 20, delay: 1000, maxDelay: 3000)
        model.retry = retry
        driver = try Driver {
            ($0.maxConcurrent, $0.maxPerHost, $0.reservedForUrgent, $0.ageing) = (3, 2, 1, ageing)
            $0.retry = retry
        }
        driver.table.observes = true
    }

    mutating func step() throws {
        driver.now += Int64.random(in: 1...40, using: &random)
        model.now = driver.now
        switch Int.random(in: 0..<200, using: &random) {
        case 0..<52: try submit()
        case 52..<66: cancel()
        case 66..<86: try ask()
        case 86..<96: respond()
        case 96..<104: answer()
        case 104..<108: receive()
        case 108..<132: finish()
        case 132..<148: askAsDecoder()
        case 148..<166: endWork()
        case 166..<173: setPriority()
        case 173..<178: changeRules()
        case 178..<180: suspend(true)
        case 180..<184: suspend(false)
        case 184..<186: enterBackground()
        case 186..<190: enterForeground()
        case 190..<193: jump()
        case 193..<199: playWhatIsOver()
        default: cancelAllSometimes()
        }
        try check()
    }

    /// Closes, and lets everything that is left finish.
    mutating func end(cancels: Bool) throws {
        suspend(false)
        enterForeground()
        driver.closing(cancels: cancels)
        model.isClosing = true
        if cancels { model.cancelAll() }
        try submit()
        try check()
        while !model.jobs.isEmpty {
            jump()
            try ask()
            for job in model.jobs(in: .asking) { answer(job) }
            for job in model.jobs(in: .running) { arrive(job, size: 1) }
            askAsDecoder()
            for job in model.jobs(in: .working) { end(job) }
            try check()
        }
        try ask()
        try check()
        try #require(driver.table.jobs.isEmpty)
        try #require(driver.table.slots.running == 0 && driver.table.slots.runningOrdinary == 0)
        try #require(driver.table.retries.count == 0 && driver.table.slots.waitingCount == 0)
        try #require(driver.table.decoding.backlog.total == 0)
    }
}

// MARK: - Requests

extension RandomWalk {
    private mutating func submit() throws {
        let wish = wish()
        try driver.submit(wish.share?.url ?? 99, host: Self.hostName(wish.host)) { try Self.fill(&$0, wish) }
        model.submit(wish)
    }

    private mutating func wish() -> NaiveTable.Wish {
        let url = Int.random(in: 0..<12, using: &random)
        let work = [.none, .none, NaiveTable.Wish.Work.transform, .modifier].randomElement(using: &random) ?? .none
        let isShared = Int.random(in: 0..<4, using: &random) > 0
        let asks = Int.random(in: 0..<3, using: &random) == 0
        return NaiveTable.Wish(
            token: driver.lastToken + 1, share: isShared ? .init(url: url, work: work, asks: asks) : nil, work: work,
            asks: asks, host: url % 4, priority: Priority.allCases.randomElement(using: &random) ?? .normal,
            wantsPixels: Int.random(in: 0..<4, using: &random) > 0,
            format: [.rgba8, .rgba8, .bgra8, .grey8].randomElement(using: &random) ?? .rgba8,
            continues: Int.random(in: 0..<3, using: &random) == 0,
            accepts: NaiveTable.Accepts.allCases.randomElement(using: &random) ?? .standard,
            queueLimit: limit(), totalLimit: limit(),
            maxAttempts: [0, 0, 1, 1, 3].randomElement(using: &random) ?? 0)
    }

    private mutating func limit() -> Int64 {
        guard Int.random(in: 0..<6, using: &random) == 0 else { return 0 }
        var limit = Int64.random(in: 100...8000, using: &random)
        while !usedTimes.insert(driver.now + limit).inserted { limit += 1 }
        return limit
    }

    /// Host 0 is a file, which has no limit; two of the others share a name but not the port.
    private static func hostName(_ host: Int) -> String { ["file", "a", "a:81", "b"][host] }

    private static func fill(_ request: inout DownloadRequest, _ wish: NaiveTable.Wish) throws {
        if wish.host == 0 { request.transfer.url = try Sample.url("file:///\(wish.share?.url ?? 99)") }
        if wish.share == nil { request.transfer.method = "POST" }
        if wish.asks { request.lookup = FakeLookup() }
        request.priority = wish.priority
        request.wantsPixels = wish.wantsPixels
        request.form = DecodeOptions(format: wish.format)
        request.continuesInBackground = wish.continues
        request.queueLimit = wish.queueLimit
        request.totalLimit = wish.totalLimit
        request.maxAttempts = wish.maxAttempts
        switch wish.accepts {
        case .standard: break
        case .everything: request.acceptance = try Sample.acceptance(statuses: "*", types: "*")
        case .notFound: request.acceptance = try Sample.acceptance(statuses: "404")
        case .images: request.acceptance = try Sample.acceptance(types: "image/*")
        }
        switch wish.work {
        case .none: break
        case .transform: request.bodyWork = Sample.bodyWork(wish.work.rawValue, transforms: true)
        case .modifier: request.bodyWork = Sample.bodyWork(wish.work.rawValue, modifies: true)
        }
    }

    /// Returns mostly a live token, sometimes one that never existed or has ended.
    private mutating func anyToken() -> UInt64 {
        let token = model.tokens.randomElement(using: &random) ?? 0
        let isStray = Int.random(in: 0..<6, using: &random) == 0
        return isStray ? UInt64.random(in: 0...driver.lastToken, using: &random) : token
    }

    private mutating func cancel() {
        let token = anyToken()
        #expect(driver.cancel(token) == model.cancel(token))
    }

    private mutating func cancelAllSometimes() {
        guard Int.random(in: 0..<10, using: &random) == 0 else { return }
        driver.cancelAll()
        model.cancelAll()
    }

    private mutating func setPriority() {
        let (token, priority) = (anyToken(), Priority.allCases.randomElement(using: &random) ?? .normal)
        #expect(driver.setPriority(priority, of: token) == model.setPriority(priority, of: token))
    }

    private mutating func changeRules() {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: model.maxConcurrent = Int.random(in: 1...6, using: &random)
        case 1: model.maxPerHost = Int.random(in: 1...4, using: &random)
        case 2: model.reserved = Int.random(in: 0...4, using: &random)
        case 3: model.minHostInterval = [0, 200, 2000].randomElement(using: &random) ?? 0
        default: model.isLIFO.toggle()
        }
        driver.setRules {
            ($0.maxConcurrent, $0.maxPerHost, $0.reservedForUrgent) =
                (model.maxConcurrent, model.maxPerHost, model.reserved)
            $0.order = model.isLIFO ? .lifo : .fifo
            $0.minHostInterval = model.minHostInterval
        }
        model.fill()
    }

    private mutating func suspend(_ isSuspended: Bool) {
        driver.suspend(isSuspended)
        model.isSuspended = isSuspended
        model.fill()
    }

    private mutating func enterBackground() {
        let grace: Int64 = [-1, 0, 500, 5000].randomElement(using: &random) ?? 0
        driver.enterBackground(grace: grace)
        model.enterBackground(grace: grace)
    }

    private mutating func enterForeground() {
        driver.enterForeground()
        model.enterForeground()
    }

    private mutating func jump() {
        driver.now += Int64.random(in: 500...5000, using: &random)
        model.now = driver.now
    }
}
