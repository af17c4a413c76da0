import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// Plays random events to the table and to the naive model, and compares all that the two say.
struct RandomWalk {
    private let driver: Driver
    private var model: NaiveTable
    private var random: SeededRandom
    private var expected: [UInt64: NaiveTable.Expected] = [:]
    private var decodes: [UInt64] = []

    init(seed: UInt64) throws {
        driver = try Driver(maxConcurrent: 3)
        model = NaiveTable(maxConcurrent: 3)
        random = SeededRandom(seed: seed)
    }

    mutating func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: submit()
        case 30..<45: cancel()
        case 45..<60: ask()
        case 60..<66: respond()
        case 66..<72: receive()
        case 72..<88: finish()
        case 88..<98: decode()
        case 98: setLimit()
        default: cancelAllSometimes()
        }
        try check()
    }

    /// Lets everything that is left run to its end.
    mutating func end() throws {
        while !model.jobs.isEmpty {
            ask()
            for id in model.ids(in: .running) { arrive(id, size: 1) }
            for id in model.ids(in: .decoding) {
                driver.decoded(id)
                note(model.decode(id, succeeds: true))
            }
            try check()
        }
        ask()
        #expect(driver.ask().started.isEmpty)
        try check()
    }

    private mutating func submit() {
        let isShared = Bool.random(using: &random) || Bool.random(using: &random)
        let url = Int.random(in: 0..<12, using: &random)
        let priority = Priority.allCases.randomElement(using: &random) ?? .normal
        let wantsPixels = Int.random(in: 0..<4, using: &random) > 0
        let token = driver.submit(url: url, priority: priority, wantsPixels: wantsPixels) {
            if !isShared { $0.method = "POST" }
        }
        note(
            model.submit(
                url: isShared ? url : nil,
                NaiveTable.Handler(token: token, priority: priority, wantsPixels: wantsPixels)))
    }

    private mutating func cancel() {
        // Mostly one that is there, sometimes one that never was or is over.
        let token = model.tokens.randomElement(using: &random) ?? 0
        let chosen = Int.random(in: 0..<5, using: &random) == 0 ? UInt64.random(in: 0...500, using: &random) : token
        #expect(driver.cancel(chosen) == model.tokens.contains(chosen))
        note(model.cancel(chosen))
    }

    private mutating func cancelAllSometimes() {
        guard Int.random(in: 0..<8, using: &random) == 0 else { return }
        for token in model.tokens.shuffled(using: &random) {
            #expect(driver.cancel(token))
            note(model.cancel(token))
        }
    }

    private mutating func ask() {
        let given = driver.ask()
        let wanted = model.ask(backlogLimit: 8 << 20)
        #expect(given.started == wanted.started)
        #expect(given.cancelled == wanted.cancelled)
    }

    private mutating func respond() {
        guard let id = model.ids(in: .running).randomElement(using: &random) else { return }
        let status = [200, 200, 206, 404, 500].randomElement(using: &random) ?? 200
        driver.respond(id, status: Int32(status))
        if status >= 300 { note(model.refuse(id)) }
    }

    private mutating func receive() {
        guard let id = model.ids(in: .running).randomElement(using: &random) else { return }
        driver.receive(id, 100)
    }

    private mutating func finish() {
        // Also events of transfers that are over: the table must not mind.
        guard let id = model.ids(in: .running).randomElement(using: &random) else {
            driver.finish(1)
            return
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            driver.fail(id)
            note(model.fail(id))
        } else {
            arrive(id, size: [0, 10, 5 << 20].randomElement(using: &random) ?? 0)
        }
    }

    private mutating func arrive(_ id: UInt64, size: Int) {
        driver.finish(id, size: size)
        let answer = model.arrive(id, size: size)
        note(answer.ended)
        if answer.decodes { decodes.append(id) }
    }

    private mutating func decode() {
        guard let id = model.ids(in: .decoding).randomElement(using: &random) else {
            driver.decoded(1)
            return
        }
        // Mostly in order; a thread that comes late, or twice, must find that out.
        if Int.random(in: 0..<3, using: &random) > 0 {
            #expect(driver.decodeBegins(id) == model.beginDecode(id))
            if Bool.random(using: &random) { return }
        }
        let succeeds = Int.random(in: 0..<3, using: &random) > 0
        driver.decoded(id, succeeds: succeeds)
        note(model.decode(id, succeeds: succeeds))
    }

    private mutating func setLimit() {
        let limit = Int.random(in: 1...6, using: &random)
        _ = driver.setMaxConcurrent(limit)
        model.maxConcurrent = limit
    }

    private mutating func note(_ ended: [UInt64: NaiveTable.Expected]) {
        expected.merge(ended) { first, _ in
            Issue.record("the model ended a request twice")
            return first
        }
    }

    private func check() throws {
        try #require(driver.endCount == expected.count)
        try #require(driver.decodes == decodes)
        guard let (token, wanted) = expected.first else { return }
        // All of them, but cheaply: one chosen by the dictionary's own order each time, all at the end.
        for (token, wanted) in model.jobs.isEmpty ? Array(expected) : [(token, wanted)] {
            let result = try #require(driver.ended[token])
            try #require(NaiveTable.Expected(result) == wanted)
        }
    }
}

extension NaiveTable.Expected {
    init?(_ result: DownloadResult) {
        switch result.error?.code {
        case nil: self = .success(pixels: result.image != nil)
        case .invalidStatusCode?: self = .status
        case .cancelled?: self = .cancelled
        case .badImageData?: self = .decode
        case .connectionLost?: self = .transport
        default: return nil
        }
    }
}
