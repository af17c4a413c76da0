import SDDBase
import SDDTransport
import Testing

@testable import SDDEngine

/// The choice of the waiting job that gets a slot.
@Suite struct TransferSlotsTests {
    private typealias Slots = TransferSlots<NumberedListener>

    private var slots = TransferSlots<NumberedListener>(.init())
    private var backlog = DecodeBacklog()
    private var places: [UInt64: WaitingPlace] = [:]
    private var jobs: [UInt64: Job<NumberedListener>] = [:]

    private mutating func makeSlots(_ set: (inout Slots.Rules) -> Void) -> Slots.Rules {
        var rules = Slots.Rules()
        set(&rules)
        slots = TransferSlots(rules)
        return rules
    }

    private mutating func wait(_ number: UInt64, _ priority: Priority = .normal, isPrompt: Bool = false) throws {
        let job = try Sample.job(TransferID(number), "http://host/\(number)", priority: priority, isPrompt: isPrompt)
        jobs[number] = job
        places[number] = slots.append(.job(job.id), host: job.host, priority: priority, isPrompt: isPrompt, at: 0)
    }

    /// Starts all that may run, and returns their numbers.
    private mutating func fill(at now: Int64 = 0) throws -> [UInt64] {
        var started: [UInt64] = []
        while case .job(let id)? = slots.next(behind: backlog) {
            let job = try #require(jobs[id.number])
            slots.started(try #require(places[id.number]), priority: job.priority, at: now)
            slots.began(job)
            started.append(id.number)
        }
        return started
    }

    @Test mutating func noMoreRunThanThereAreSlots() throws {
        // given
        _ = makeSlots { $0.maxConcurrent = 2 }
        for number in 1...4 as ClosedRange<UInt64> { try wait(number) }
        // then
        #expect(try fill() == [1, 2])
        #expect(slots.running == 2 && slots.waitingCount == 2 && !slots.mayStart(behind: backlog))
        // when
        slots.ended(try #require(jobs[1]))
        // then
        #expect(try fill() == [3])
        #expect(slots.onNetwork.map { $0.id.number } == [2, 3])
    }

    @Test mutating func reservedSlotsAreForUrgentJobs() throws {
        // given
        _ = makeSlots { ($0.maxConcurrent, $0.reservedForUrgent) = (3, 2) }
        try wait(1)
        try wait(2)
        #expect(try fill() == [1])
        // when: a running job becomes urgent, its ordinary slot is free again
        try #require(jobs[1]).priority = .high
        slots.priorityChanged(from: .normal, to: .high)
        // then
        #expect(try fill() == [2])
        #expect(slots.runningOrdinary == 1)
        // when
        slots.ended(try #require(jobs[1]))
        try wait(3)
        try wait(4, .veryHigh)
        // then
        #expect(try fill() == [4])
        #expect(slots.running == 2 && slots.runningOrdinary == 1)
    }

    @Test mutating func oneSlotIsOrdinaryHoweverManyAreReserved() throws {
        // given
        _ = makeSlots { ($0.maxConcurrent, $0.reservedForUrgent) = (2, 5) }
        for number in 1...2 as ClosedRange<UInt64> { try wait(number) }
        // then
        #expect(try fill() == [1])
    }

    @Test mutating func fullBacklogLetsOnlyPromptJobsStart() throws {
        // given
        try wait(1)
        backlog.add(9 << 20, isPrompt: false)
        #expect(!slots.mayStart(behind: backlog))
        try wait(2, isPrompt: true)
        // then
        #expect(slots.mayStart(behind: backlog))
        #expect(try fill() == [2])
        // when
        try wait(3, isPrompt: true)
        backlog.add(9 << 20, isPrompt: true)
        // then
        #expect(try fill() == [])
        backlog = DecodeBacklog()
        #expect(try fill() == [1, 3])
    }

    /// The 16th of the transfers that run while the decoders have work is the last one.
    @Test mutating func fewerTransfersRunWhileBodiesWait() throws {
        // given
        _ = makeSlots { $0.maxConcurrent = 64 }
        for number in 1...40 as ClosedRange<UInt64> { try wait(number) }
        backlog.add(1 << 20 | 1, isPrompt: false)
        // when, then
        #expect(try fill().count == 16)
        // A thread may be blocked for a prompt job.
        try wait(41, isPrompt: true)
        #expect(try fill() == [41])
        backlog.add(-1, isPrompt: false)
        #expect(try fill().count == 24)
    }

    @Test mutating func nothingStartsWhileSuspendedOrInTheBackground() throws {
        // given
        try wait(1)
        // when, then
        slots.suspended(true)
        #expect(slots.isSuspended && slots.next(behind: backlog) == nil)
        slots.suspended(false)
        slots.enteredBackground(until: 10)
        #expect(slots.next(behind: backlog) == nil)
        #expect(slots.graceEnded(at: 10) && slots.next(behind: backlog) == nil)
        slots.enteredForeground()
        #expect(slots.next(behind: backlog)?.number == 1)
    }

    @Test mutating func graceEndsOnceAndIsATimeToLookAt() {
        // given
        #expect(slots.nextTime == .max && !slots.graceEnded(at: 100))
        // when
        slots.enteredBackground(until: 50)
        // then
        #expect(slots.nextTime == 50 && !slots.graceEnded(at: 49))
        #expect(slots.graceEnded(at: 50) && !slots.graceEnded(at: 50) && slots.nextTime == .max)
    }

    @Test mutating func jobsPauseInTheBackgroundUnlessOneOfTheirHandlersWantsToContinue() throws {
        // given
        let stops = try Sample.job(TransferID(1), "http://host/1")
        let continues = try Sample.job(TransferID(2), "http://host/1") { $0.continuesInBackground = true }
        func pauses(isHeldBack: Bool = false) -> [Bool] {
            [stops, continues].map { slots.pauses($0, isHeldBack: isHeldBack) }
        }
        // then
        #expect(pauses() == [false, false] && pauses(isHeldBack: true) == [true, true])
        slots.enteredBackground(until: 50)
        #expect(pauses() == [true, false] && pauses(isHeldBack: true) == [true, false])
        _ = slots.graceEnded(at: 50)
        #expect(pauses() == [true, true])
    }

    @Test mutating func pausedJobsResumeTheMostUrgentFirst() throws {
        // given
        for (number, priority) in [(1, .low), (2, .high), (3, .normal), (4, .high)] as [(UInt64, Priority)] {
            try wait(number, priority)
        }
        #expect(try fill() == [2, 4, 3, 1])
        // when
        for number in [4, 1, 2] as [UInt64] { jobs[number]?.isPaused = true }
        // then
        #expect(slots.paused.map { $0.id.number } == [2, 4, 1])
    }

    @Test mutating func changedRulesHoldFromThenOn() throws {
        // given
        var rules = makeSlots { $0.maxConcurrent = 1 }
        for number in 1...4 as ClosedRange<UInt64> { try wait(number) }
        #expect(try fill() == [1])
        // when
        (rules.maxConcurrent, rules.order, rules.maxPerHost) = (4, .lifo, 3)
        slots.rulesChanged(to: rules, at: 0)
        // then
        #expect(try fill() == [4, 3])
        // when
        rules.maxPerHost = .max
        slots.rulesChanged(to: rules, at: 0)
        // then
        #expect(try fill() == [2])
    }

    @Test mutating func hostThatRestsIsATimeToLookAt() throws {
        // given
        _ = makeSlots { $0.minHostInterval = 100 }
        try wait(1)
        try wait(2)
        #expect(try fill(at: 10) == [1])
        #expect(slots.nextTime == 110 && slots.next(behind: backlog) == nil)
        // when
        slots.restsEnded(at: 110)
        // then
        #expect(try fill(at: 110) == [2])
    }

    @Test mutating func removedJobsDoNotStartAndOldOnesAreOverdue() throws {
        // given
        _ = makeSlots { $0.ageing = 100 }
        try wait(1)
        try wait(2)
        #expect(slots.overdue(at: 99) == nil)
        let oldest = try #require(slots.overdue(at: 250))
        #expect(oldest.waiter.number == 1 && oldest.levels == 2)
        // when
        slots.remove(try #require(places[1]))
        // then
        #expect(slots.overdue(at: 250)?.waiter.number == 2 && slots.waitingCount == 1)
        #expect(try fill() == [2])
    }
}

extension Waiter {
    /// The number of the job's id.
    fileprivate var number: UInt64 {
        switch self {
        case .job(let id): id.number
        case .plain(let plain): plain.id.number
        }
    }
}
