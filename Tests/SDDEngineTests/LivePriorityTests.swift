import SDDBase
import TestSupport
import Testing

@testable import SDDEngine

/// A transfer has the priority of its most urgent waiting request at any time: R and Z5.
@Suite struct LivePriorityTests {
    @Test("R2: the transport is told how urgent what it starts is", arguments: Priority.allCases)
    func theStartHasThePriority(_ priority: Priority) throws {
        let driver = try Driver()
        try driver.submit(0, priority: priority)
        #expect(driver.commands() == [.start(1, priority)])
    }

    @Test("R3: a joiner raises a waiting transfer, and its leaving lowers it again")
    func aJoinerRaisesAWaitingTransfer() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        try driver.submit(0)
        try driver.submit(1, priority: .low)
        try driver.submit(2)
        let urgent = try driver.submit(1, priority: .high)
        #expect(driver.effectivePriority(of: urgent) == .high)
        // A less urgent request that joins changes nothing.
        try driver.submit(1, priority: .veryLow)
        #expect(driver.effectivePriority(of: urgent) == .high)
        driver.cancel(urgent)
        #expect(driver.startOrder() == [1, 3, 2])
    }

    @Test("R3: a raised transfer overtakes those that waited")
    func aRaisedTransferOvertakes() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        for number in 0..<4 { try driver.submit(number) }
        try driver.submit(3, priority: .veryHigh)
        #expect(driver.startOrder() == [1, 4, 2, 3])
    }

    @Test("R3: joins, changes and leavings are passed on to a running transfer if they change its priority")
    func aRunningTransferGetsChanges() throws {
        let driver = try Driver()
        let first = try driver.submit(0)
        _ = driver.commands()
        try driver.submit(0, priority: .low)
        #expect(driver.commands().isEmpty)
        let urgent = try driver.submit(0, priority: .veryHigh)
        #expect(driver.commands() == [.setPriority(1, .veryHigh)])
        #expect(driver.setPriority(.high, of: urgent))
        #expect(driver.commands() == [.setPriority(1, .high)])
        driver.cancel(urgent)
        #expect(driver.commands() == [.setPriority(1, .normal)])
        #expect(driver.setPriority(.veryLow, of: first))
        #expect(driver.commands() == [.setPriority(1, .low)])
    }

    @Test("R3: a received body waits for a decode thread by its priority")
    func aReceivedBodyMovesInTheDecodersQueue() throws {
        let driver = try Driver()
        let tokens = try (0..<4).map { try driver.submit($0) }
        for id in [1, 2, 3, 4] as [UInt64] { driver.answer(id) }
        try driver.submit(2, priority: .high)
        #expect(driver.setPriority(.veryHigh, of: tokens[3]))
        #expect(driver.setPriority(.low, of: tokens[0]))
        let leaving = try driver.submit(0, priority: .veryHigh)
        driver.cancel(leaving)
        #expect((0..<4).map { _ in driver.work() } == [4, 3, 2, 1])
    }

    @Test("R3: a request for bytes alone has left when a body waits for the decoder")
    func anUrgentRequestForBytesHasLeft() throws {
        let driver = try Driver()
        try driver.submit(0, priority: .low)
        try driver.submit(0, priority: .veryHigh, pixels: false)
        try driver.submit(1)
        driver.answer(1)
        driver.answer(2)
        #expect(driver.work() == 2)
    }

    @Test("R3: setting the priority of a request that has ended has no effect")
    func settingThePriorityOfAnEndedRequestHasNoEffect() throws {
        let driver = try Driver()
        let token = try driver.submit(0)
        driver.cancel(token)
        #expect(!driver.setPriority(.high, of: token))
        #expect(!driver.setPriority(.high, of: 0))
        #expect(driver.commands() == [.start(1, .normal), .cancel(1)])
    }

    @Test("R3 Z3: a running transfer that becomes urgent makes room for an ordinary one")
    func becomingUrgentMakesRoom() throws {
        let driver = try Driver {
            $0.maxConcurrent = 2
            $0.reservedForUrgent = 1
        }
        let first = try driver.submit(0)
        try driver.submit(1)
        #expect(driver.commands().started == [1])
        driver.setPriority(.high, of: first)
        #expect(driver.commands() == [.setPriority(1, .high), .start(2, .normal)])
    }

    @Test(
        "Z5: after any joins, leavings and changes it is that of the most urgent request, at every stage",
        arguments: 0..<20 as Range<UInt64>)
    func isAlwaysThatOfTheMostUrgentRequest(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let driver = try Driver { $0.maxConcurrent = 1 }
        // The seed selects the stage: waiting, running, received or at the decoder.
        if seed % 4 == 0 { try driver.submit(1) }
        var live = [try driver.submit(0, priority: .low): Priority.low]
        if seed % 4 >= 2 { driver.answer(1) }
        if seed % 4 == 3 { _ = driver.nextWork() }
        for _ in 0..<400 {
            let priority = Priority.allCases.randomElement(using: &random) ?? .normal
            let some = live.keys.sorted().randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<3, using: &random) {
            case 0: live[try driver.submit(0, priority: priority)] = priority
            case 1 where live.count > 1:
                driver.cancel(some)
                live[some] = nil
            default:
                driver.setPriority(priority, of: some)
                live[some] = priority
            }
            let token = try #require(live.keys.first)
            #expect(driver.effectivePriority(of: token) == live.values.max(), "seed \(seed)")
        }
    }
}
