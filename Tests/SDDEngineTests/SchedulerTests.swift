import SDDBase
import Testing

@testable import SDDEngine

/// Limits by host, slots for urgent requests, ageing: Z3.
@Suite struct SchedulerTests {
    // MARK: - Hosts

    @Test("Z3: the number of transfers to one host is limited, while others continue")
    func aHostHasALimitOfItsOwn() throws {
        let driver = try Driver {
            $0.maxConcurrent = 4
            $0.maxPerHost = 2
        }
        for number in 0..<4 { try driver.submit(number, host: "a") }
        try driver.submit(0, host: "b")
        #expect(driver.commands().started == [1, 2, 5])
        driver.fail(2)
        #expect(driver.commands().started == [3])
    }

    @Test(
        "Z3: a host is its name, in any case, and its port",
        arguments: [
            ("a", "A", true), ("a", "a:80", true), ("a", "user:x@a", true), ("a", "a:81", false), ("a", "b", false),
            ("[::1]", "[::1]:80", true), ("[::1]", "[::2]", false),
        ])
    func aHostIsNameAndPort(_ one: String, _ other: String, isSame: Bool) throws {
        let driver = try Driver { $0.maxPerHost = 1 }
        try driver.submit(0, host: one)
        try driver.submit(1, host: other)
        #expect(driver.commands().started == (isSame ? [1] : [1, 2]))
    }

    @Test("Z3: a URL without a host has no limit by host")
    func filesHaveNoHost() throws {
        let driver = try Driver { $0.maxPerHost = 1 }
        for number in 0..<3 { driver.submit(try Sample.request("file:///\(number)")) }
        for number in 0..<3 { driver.submit(try Sample.request("archive:\(number)", others: ["archive"])) }
        #expect(driver.commands().started == [1, 2, 3, 4, 5, 6])
    }

    @Test("Z3: an urgent request to a full host does not hold the others up, and is next when it has room")
    func aFullHostDoesNotHoldUpOthers() throws {
        let driver = try Driver {
            $0.maxConcurrent = 2
            $0.maxPerHost = 1
        }
        try driver.submit(0, host: "a")
        try driver.submit(1, host: "a")
        try driver.submit(2, host: "a", priority: .veryHigh)
        try driver.submit(3, host: "b", priority: .veryLow)
        #expect(driver.commands().started == [1, 4])
        driver.fail(1)
        #expect(driver.commands().started == [3])
    }

    @Test("Z3: the limit by host changes while transfers run, both ways")
    func theLimitByHostChanges() throws {
        let driver = try Driver { $0.maxPerHost = 1 }
        for number in 0..<5 { try driver.submit(number) }
        driver.setRules { $0.maxPerHost = 3 }
        #expect(driver.commands().started == [1, 2, 3])
        driver.setRules { $0.maxPerHost = 1 }
        driver.fail(1)
        driver.fail(2)
        #expect(driver.commands().isEmpty)
        driver.fail(3)
        #expect(driver.commands().started == [4])
    }

    // MARK: - Reserve

    @Test("Z3: reserved slots are for urgent requests only, which may use all")
    func reservedSlotsAreForUrgentRequests() throws {
        let driver = try Driver {
            $0.maxConcurrent = 3
            $0.reservedForUrgent = 2
        }
        for number in 0..<3 { try driver.submit(number) }
        #expect(driver.commands().started == [1])
        try driver.submit(3, priority: .high)
        try driver.submit(4, priority: .veryHigh)
        try driver.submit(5, priority: .veryHigh)
        #expect(driver.commands().started == [4, 5])
        driver.fail(4)
        #expect(driver.commands().started == [6])
        // The slot of an ordinary transfer goes to the next request.
        driver.fail(1)
        #expect(driver.commands().started == [2])
    }

    @Test("Z3: one slot is always left for the others", arguments: [1, 2, 9])
    func oneSlotIsLeftForTheOthers(reserved: Int) throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        driver.setRules { $0.reservedForUrgent = reserved }
        try driver.submit(0, priority: .veryLow)
        #expect(driver.commands().started == [1])
    }

    @Test("Z3: under a thousand prefetches an urgent request starts at once")
    func urgentRequestsDoNotWaitForPrefetches() throws {
        let driver = try Driver {
            $0.maxConcurrent = 6
            $0.reservedForUrgent = 1
        }
        for number in 0..<1000 { try driver.submit(number, priority: .low) }
        #expect(driver.commands().started == [1, 2, 3, 4, 5])
        try driver.submit(5000, priority: .high)
        #expect(driver.commands() == [.start(1001, .high)])
    }

    // MARK: - Ageing

    @Test("Z3: a request that has waited for the time counts as one class higher, and so on, up to the reserved slots")
    func waitingRaisesThePriority() throws {
        let driver = try Driver {
            $0.maxConcurrent = 2
            $0.reservedForUrgent = 1
            $0.ageing = 1000
        }
        try driver.submit(0)
        let old = try driver.submit(1, priority: .low)
        _ = driver.commands()
        for (wait, priority) in [(999, Priority.low), (1, .normal), (999, .normal), (1, .high)] as [(Int64, Priority)] {
            driver.now += wait
            let commands = driver.commands()
            #expect(driver.effectivePriority(of: old) == priority)
            #expect(commands == (priority == .high ? [.start(2, .high)] : []))
        }
    }

    @Test("Z3: a long wait raises by several levels, even if nothing happened meanwhile")
    func longWaitingRaisesByManyLevels() throws {
        let driver = try Driver {
            $0.maxConcurrent = 1
            $0.ageing = 1000
        }
        try driver.submit(0)
        let old = try driver.submit(1, priority: .veryLow)
        driver.now += 2500
        let young = try driver.submit(2, priority: .low)
        driver.fail(1)
        #expect(driver.commands() == [.start(1, .normal), .start(2, .normal)])
        #expect(driver.effectivePriority(of: old) == .normal)
        #expect(driver.effectivePriority(of: young) == .low)
    }

    @Test("Z3: ageing ends at the highest class, and is off by default", arguments: [0, 10])
    func ageingEndsAtTheHighestClass(ageing: Int64) throws {
        #expect(DownloaderConfiguration().ageingMilliseconds == 0)
        let driver = try Driver {
            $0.maxConcurrent = 1
            $0.ageing = ageing
        }
        try driver.submit(0)
        let old = try driver.submit(1, priority: .veryLow)
        driver.now = .max / 2
        driver.fail(1)
        #expect(driver.effectivePriority(of: old) == (ageing > 0 ? .veryHigh : .veryLow))
    }

    /// Simulates one slot, one millisecond per transfer, and always a more urgent new request.
    /// - Returns: The number of transfers before the one that is not urgent; nil if it never ran.
    private func transfersBefore(ageing: Int64) throws -> Int? {
        let driver = try Driver {
            $0.maxConcurrent = 1
            $0.ageing = ageing
        }
        try driver.submit(0, priority: .veryHigh)
        let patient = try driver.submit(1, priority: .veryLow)
        for count in 0..<200 {
            let running = try #require(driver.commands().started.first)
            if driver.table.job(of: patient)?.isRunning == true { return count }
            for extra in 0..<2 { try driver.submit(100 + 2 * count + extra, priority: .high) }
            driver.now += 1000
            driver.fail(running)
        }
        return nil
    }

    @Test("Z3: with ageing no request waits for ever; without, urgent ones may run for ever")
    func ageingIsFair() throws {
        #expect(try transfersBefore(ageing: 0) == nil)
        // It takes four raises to the highest class, of ten transfers each, and the queue of that class.
        let count = try #require(try transfersBefore(ageing: 10_000))
        #expect((30...80).contains(count))
    }

    @Test("Z3: in simulated time hosts share the slots, though one has a long queue")
    func hostsShareTheSlots() throws {
        let driver = try Driver {
            $0.maxConcurrent = 6
            $0.maxPerHost = 3
        }
        for number in 0..<300 { try driver.submit(number, host: "busy") }
        var running = driver.commands().started
        var waits: [Int64] = []
        for round in 0..<50 {
            // A new request for another host comes each round; a transfer takes one round.
            let token = try driver.submit(round, host: "quiet")
            let began = driver.now
            running += driver.commands().started
            if driver.table.job(of: token)?.isRunning == true { waits.append(driver.now - began) }
            driver.now += 1000
            for id in running { driver.fail(id) }
            running = driver.commands().started
        }
        #expect(waits == Array(repeating: 0, count: 50))
    }
}
