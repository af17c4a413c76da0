import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// Jobs are found by id, by token and by request, as long as they are in the index.
@Suite struct JobIndexTests {
    private var index = JobIndex<NumberedListener>()

    @Test mutating func idsCountFromOneUnlessTheyAreGenerated() {
        #expect((0..<3).map { _ in index.makeID().number } == [1, 2, 3])
        index = JobIndex(numbers: { 77 })
        #expect(index.makeID().number == 77)
    }

    @Test mutating func jobIsFoundUntilItIsRemoved() throws {
        // given
        let jobs = try (0..<3).map { try Sample.job(index.makeID(), "http://host/\($0)") }
        for job in jobs.reversed() { index.insert(job) }
        // then
        #expect(index.count == 3 && index[2] === jobs[1] && index.sorted.map { $0.id.number } == [1, 2, 3])
        // when
        index.remove(jobs[1])
        // then
        #expect(index.count == 2 && index[2] == nil && index.sorted.map { $0.id.number } == [1, 3])
    }

    @Test mutating func renumberedJobIsFoundByItsNewIdOnly() throws {
        // given
        let request = try Sample.request("http://host/1")
        let job = try Sample.job(index.makeID(), "http://host/1")
        index.insert(job)
        // when
        index.renumber(job)
        // then
        #expect(job.id.number == 2 && index[1] == nil && index[2] === job && index.count == 1)
        #expect(index.sharedJob(for: request) === job)
        // when
        index.remove(job)
        // then
        #expect(index.isEmpty)
    }

    @Test mutating func tokenLeadsToItsHandler() throws {
        // given
        let job = try Sample.job(index.makeID(), "http://host/1", token: 5)
        index.insert(job)
        index.add(token: 5, at: try #require(job.handlers.firstPlace), of: job)
        index.add(token: 6, at: job.handlers.append(Sample.handler(6, try Sample.request("http://host/1"))), of: job)
        // then
        #expect(index.tokenCount == 2 && index.contains(token: 6) && !index.contains(token: 7))
        #expect(index.member(of: 5)?.handler?.token == 5 && index.member(of: 6)?.handler?.token == 6)
        // when
        index.remove(job)
        index.remove(token: 5)
        // then: each handler's token lasts until its own end
        #expect(index.member(of: 5) == nil && index.member(of: 6)?.job === job && !index.isEmpty)
        index.remove(token: 6)
        #expect(index.isEmpty)
    }

    @Test mutating func onlyJobsThatMayBeSharedAreJoined() throws {
        // given
        let request = try Sample.request("http://host/1")
        let unsafe = try Sample.job(index.makeID(), "http://host/1") { $0.transfer.method = "POST" }
        index.insert(unsafe)
        #expect(index.sharedJob(for: request) == nil)
        // when
        let job = try Sample.job(index.makeID(), "http://host/1")
        index.insert(job)
        // then
        #expect(index.sharedJob(for: request) === job)
        #expect(index.sharedJob(for: try Sample.request("http://host/2")) == nil)
    }

    /// Jobs with equal hash keys form a chain, whose members leave in any order.
    @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]])
    mutating func jobsWithOneHashKeyAreToldApart(order: [Int]) throws {
        // given
        let requests = try (0..<3).map { number in
            var request = try Sample.request("http://host/1")
            request.lookup = ClashingLookup(number)
            return request
        }
        let jobs = requests.map { Job<NumberedListener>(id: index.makeID(), $0, Sample.handler(0, $0), .asking) }
        for job in jobs { index.insert(job) }
        #expect(Set(requests.map { $0.hashKey }).count == 1)
        var left = Set(0..<3)
        for number in order {
            // when
            index.remove(jobs[number])
            left.remove(number)
            // then
            for number in 0..<3 {
                #expect(index.sharedJob(for: requests[number]) === (left.contains(number) ? jobs[number] : nil))
            }
        }
        #expect(index.isEmpty && jobs.allSatisfy { $0.nextShared == nil })
    }

    @Test mutating func jobsInALookupAreCountedWhileTheyAreInTheIndex() throws {
        // given
        let jobs = try (0..<3).map { try Sample.job(index.makeID(), "http://host/\($0)", stage: .asking) }
        #expect(index.askingCount == 0)
        for job in jobs { index.insert(job) }
        #expect(index.askingCount == 3)
        // when
        jobs[0].stage = .running
        index.remove(jobs[1])
        jobs[1].stage = .running
        // then
        #expect(index.askingCount == 1)
        jobs[0].stage = .asking
        #expect(index.askingCount == 2)
    }
}

/// A lookup with the hash key of all others.
private final class ClashingLookup: CacheLookup {
    private let number: Int
    var hashKey: UInt64 { 7 }

    init(_ number: Int) { self.number = number }

    func isSame(as other: any CacheLookup) -> Bool { (other as? ClashingLookup)?.number == number }

    func start(_ context: LookupContext, answer: @escaping @Sendable (LookupResult) -> Void) {
        Issue.record("an index asks nobody")
    }
}
