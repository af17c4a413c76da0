import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// Random mixes of requests with little memory for pictures: every request ends, whatever the servers, the applications
/// and the other downloaders of the process do.
@Suite struct RoomWalkTests {
    /// SDD_TEST_LONG=1 runs thousands of mixes.
    private static let mixes = UInt64(TestLength.count(10_000, short: 300))

    @Test func everyRequestEnds() throws {
        var (refused, takenBack) = (0, 0)
        for seed in 1...Self.mixes {
            let world = try RoomWorld(seed: seed)
            do {
                for _ in 0..<250 { try Self.step(world) }
                try Self.end(world)
            } catch {
                Issue.record("seed \(seed)")
                throw error
            }
            refused += world.refused
            takenBack += world.takenBack
        }
        // The mixes exercise both cases.
        #expect(refused > 0 && takenBack > 0)
    }

    private static func step(_ world: RoomWorld) throws {
        world.randomSite.driver.now += 10
        switch Int.random(in: 0..<20, using: &world.random) {
        case 0..<2: try world.interfere()
        case 2: world.fallSilent()
        case 3..<9: _ = try world.network(of: world.randomSite)
        case 9..<17: _ = world.decode(at: world.randomSite)
        default: _ = try world.deliver(at: world.randomSite)
        }
    }

    private static func end(_ world: RoomWorld) throws {
        world.isWild = false
        // Some servers are silent, but all received bodies are decoded and delivered.
        try run(world)
        for site in world.sites {
            try #require(site.driver.table.slots.waitingCount == 0)
            if let (other, token) = site.blockedFor {
                // The callback itself waits for a silent server, which is the only excuse.
                try #require(other.driver.table.job(of: token)?.isRunning == true)
                continue
            }
            try #require(site.queue.isEmpty)
            for job in site.driver.table.jobs.sorted { try #require(job.isRunning, "a body waits: \(job.stage)") }
        }
        world.speakAgain()
        try run(world)
        for site in world.sites {
            try #require(site.driver.isEmpty && site.driver.table.decoding.isEmpty)
            try #require(site.driver.ended.count == Int(site.driver.lastToken))
            try #require(site.driver.ended.values.allSatisfy { $0.error == nil || $0.error?.code == .cancelled })
            try #require(!site.accounts[0].isWanted)
        }
        try #require(world.memory.used == 0)
    }

    /// Runs everything until no part can continue.
    private static func run(_ world: RoomWorld) throws {
        var isAble = true
        while isAble {
            isAble = false
            for site in world.sites {
                site.driver.now += 10
                if try world.network(of: site) { isAble = true }
                if world.decode(at: site) { isAble = true }
                if try world.deliver(at: site) { isAble = true }
            }
        }
    }

    // MARK: - Single cases

    @Test("bodies that wait for a delivery do not hold up prompt requests")
    func promptTransfersStartAndContinue() throws {
        let driver = try Driver { $0.maxConcurrent = 2 }
        for number in 0..<4 { try driver.submit(number) }
        _ = driver.commands()
        driver.answer(1, size: 70 << 20)
        #expect(driver.commands() == [.pause(2)])
        // when
        try driver.submit(4) { $0.isPrompt = true }
        // then: the paused transfer resumes, since it might be the one that a prompt request needs
        #expect(driver.commands() == [.resume(2), .start(5, .normal)])
        // when
        driver.answer(5)
        driver.work()
        driver.work()
        // then
        #expect(driver.commands() == [.start(3, .normal)])
    }

    @Test("a prompt request that joins a job in line for memory moves it to the other line")
    func aPromptRequestMovesTheJobToItsLine() throws {
        let memory = DecodeMemory()
        let site = try RoomWorld.Site(memory, threads: 1) { _ in }
        memory.setLimit(1)
        let held = site.accounts[0].reserve(1, isArriving: false)
        let first = try site.driver.submit(0)
        _ = site.driver.commands()
        site.driver.answer(1, size: 10)
        _ = site.driver.nextWork()
        var step = PictureStream.Step()
        step.lacksRoom = 100
        site.driver.play { $0.decoded(TransferID(1), .success(step), nil, at: site.driver.now) }
        #expect(site.driver.nextWork() == nil && site.accounts[0].isWanted)
        #expect(site.driver.table.decoding.backlog.total == 10)
        // when
        _ = try site.driver.submit(0) { $0.isPrompt = true }
        // then
        #expect(site.driver.table.takeWakes().decoders > 0)
        let work = site.driver.nextWork()
        #expect(work?.room?.bytes == 100 && !site.accounts[0].isWanted)
        site.driver.decoded(1)
        #expect(site.driver.ended[first]?.image != nil && site.driver.isEmpty)
        withExtendedLifetime(held) {}
    }

    @Test("a cancelled request leaves the line, and the next one may need less")
    func aCancelledRequestLeavesTheLine() throws {
        let memory = DecodeMemory()
        let site = try RoomWorld.Site(memory, threads: 1) { _ in }
        memory.setLimit(50)
        let held = site.accounts[0].reserve(20, isArriving: false)
        var tokens: [UInt64] = []
        for number in 0..<2 { tokens.append(try site.driver.submit(number)) }
        _ = site.driver.commands()
        for id in 1...2 as ClosedRange<UInt64> { site.driver.answer(id, size: 10) }
        for (id, bytes) in [(1, 100), (2, 30)] as [(UInt64, Int)] {
            _ = site.driver.nextWork()
            var step = PictureStream.Step()
            step.lacksRoom = bytes
            site.driver.play { $0.decoded(TransferID(id), .success(step), nil, at: site.driver.now) }
        }
        #expect(site.driver.nextWork() == nil)
        _ = site.driver.table.takeWakes()
        // when
        site.driver.cancel(tokens[0])
        // then
        #expect(site.driver.table.takeWakes().decoders == 1)
        #expect(site.driver.nextWork()?.id.number == 2)
        site.driver.decoded(2)
        #expect(site.driver.isEmpty && !site.accounts[0].isWanted)
        withExtendedLifetime(held) {}
    }
}
