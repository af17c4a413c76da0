import SDDBase
import SDDTransport
import Testing

@testable import SDDEngine

/// The spreading of hosts over network threads.
struct NetworkThreadTests {
    private let driver: Driver
    private static let hosts = (0..<64).map { "host\($0)" }

    init() throws {
        driver = try Driver {
            $0.networkThreads = 4
            $0.maxConcurrent = 1000
        }
    }

    private static let all = (0..<4).map { NetworkThreads(number: $0) }

    private func turn(on thread: NetworkThreads) -> (commands: [Order], deadline: Int64) {
        var commands: [TransportCommand] = []
        let deadline = driver.play { $0.transportAsks(for: &commands, on: thread, at: driver.now) }
        return (commands.map { Order($0) }, deadline)
    }

    @Test func allTransfersOfOneHostAreOnOneThread() throws {
        var wanted: [String: [UInt64]] = [:]
        for number in 0..<256 {
            let host = Self.hosts[number % 64]
            wanted[host, default: []].append(try driver.submit(number, host: host))
        }
        var threads: [UInt64: NetworkThreads] = [:]
        for thread in Self.all {
            for id in turn(on: thread).commands.started {
                #expect(threads[id] == nil, "transfer \(id) was started twice")
                threads[id] = thread
            }
        }
        #expect(threads.count == 256)
        for (host, ids) in wanted { #expect(Set(ids.map { threads[$0]?.number }).count == 1, "\(host)") }
        // 64 hosts leave no thread without one; all on three threads is less likely than 1 to 10^7.
        #expect(Set(threads.values.map(\.number)).count == 4)
    }

    @Test func everyCommandGoesToTheThreadOfItsTransfer() throws {
        var tokens: [UInt64] = []
        for number in 0..<16 { tokens.append(try driver.submit(number, host: Self.hosts[number])) }
        var threads: [UInt64: NetworkThreads] = [:]
        for thread in Self.all {
            for id in turn(on: thread).commands.started { threads[id] = thread }
        }
        driver.enterBackground(grace: 10)
        driver.enterForeground()
        for token in tokens { driver.setPriority(.veryHigh, of: token) }
        for token in tokens { driver.cancel(token) }
        var seen = [0, 0, 0, 0]
        for thread in Self.all {
            for command in turn(on: thread).commands {
                let (kind, id) = Self.kind(of: command)
                #expect(threads[id] == thread)
                seen[kind] += 1
            }
        }
        #expect(seen == [16, 16, 16, 16])
    }

    private static func kind(of command: Order) -> (number: Int, id: UInt64) {
        switch command {
        case .pause(let id): (0, id)
        case .resume(let id): (1, id)
        case .setPriority(let id, _): (2, id)
        case .cancel(let id), .start(let id, _), .show(let id): (3, id)
        }
    }

    @Test func onlyThreadsWithCommandsAreWoken() throws {
        _ = turn(on: .first)
        _ = driver.table.takeWakes()
        for number in 0..<16 {
            try driver.submit(number, host: Self.hosts[number])
            let woken = driver.table.takeWakes().transport
            let threads = Self.all.filter { woken.contains($0) }
            #expect(threads.count == 1)
            for thread in Self.all {
                #expect(turn(on: thread).commands.started.count == (thread == woken ? 1 : 0))
            }
            #expect(driver.table.takeWakes().transport == [])
        }
    }

    @Test func onlyTheFirstThreadLooksAtTheClocks() throws {
        try driver.submit(0, host: Self.hosts[0]) { $0.totalLimit = 1000 }
        for thread in Self.all.dropFirst() { #expect(turn(on: thread).deadline == .max) }
        #expect(turn(on: .first).deadline == driver.now + 1000)
        driver.now += 1000
        for thread in Self.all.dropFirst() { _ = turn(on: thread) }
        #expect(driver.ended.isEmpty)
        _ = turn(on: .first)
        #expect(driver.ended.count == 1)
    }

    @Test(arguments: [(1, 0, 1), (4, 0, 4), (4, 2, 2), (16, 16, 16), (99, 0, 16), (0, 0, 1)] as [(Int32, Int32, Int)])
    func eachThreadMayOpenAConnection(threads: Int32, connections: Int32, expected: Int) {
        var configuration = TransportConfiguration()
        (configuration.networkThreads, configuration.maxConnections) = (threads, connections)
        #expect(configuration.threadCount == expected)
    }
}
