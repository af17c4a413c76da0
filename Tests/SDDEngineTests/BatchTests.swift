import Glibc
import SDDBase
import SDDCoders
import TestSupport
import Testing

@testable import SDDEngine

/// A batch over a source that does nothing by itself: items end when the test says so.
@Suite struct BatchTests {
    private let source = HeldSource()
    private let time = ManualTime()

    private func batch(_ count: Int, _ set: (inout Batch.Rules) -> Void = { _ in }) throws -> Batch {
        var rules = Batch.Rules()
        set(&rules)
        return try Batch.make(CountedInput(count), source: source, rules: rules, time: time)
    }

    private func isReadable(_ batch: Batch) -> Bool {
        var entry = pollfd(fd: batch.eventDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    @Test("Z14: the failure of an item does not affect the others")
    func oneFailureDoesNotStopTheOthers() throws {
        let batch = try batch(3)
        source.end(1, error: .notModified)
        source.end(0, body: [1, 2])
        source.end(2, body: [3])
        let items = try batch.wait(most: 9, milliseconds: -1)
        #expect(items.map(\.index) == [1, 0, 2] && items.map(\.id) == [101, 100, 102])
        #expect(items.map { $0.error?.code } == [.notModified, nil, nil])
        #expect(try batch.wait(most: 9, milliseconds: -1).isEmpty)
        let counts = batch.counts
        #expect(counts.items == 3 && counts.succeeded == 2 && counts.failed == 1 && counts.cancelled == 0)
        #expect(counts.bytes == 3)
        #expect(counts.kinds.map(\.items) == [1, 2])
        #expect(counts.hosts.map(\.name) == ["host:8080"])
        #expect(counts.hosts.first?.host.items == 3 && counts.hosts.first?.host.failed == 1)
        batch.close()
    }

    @Test("Z14: taking an item starts another") func takingAnItemStartsAnother() throws {
        let batch = try batch(3) { $0.lookAhead = 1 }
        #expect(source.submitted == 1)
        source.end(0, body: [])
        #expect(source.submitted == 1)
        #expect(try batch.wait(most: 9, milliseconds: 0).count == 1)
        #expect(source.submitted == 2)
        batch.close()
    }

    @Test("Z14: the descriptor is readable while there are results, and at the end") func ringsTheBell() throws {
        let batch = try batch(1)
        #expect(!isReadable(batch))
        source.end(0, body: [])
        #expect(isReadable(batch))
        _ = try batch.wait(most: 1, milliseconds: 0)
        #expect(isReadable(batch))
        #expect(try batch.wait(most: 1, milliseconds: 0).isEmpty)
        batch.close()
        #expect(try isReadable(self.batch(0)))
    }

    @Test("Z14: a wait ends when its time is over") func timesOut() throws {
        let batch = try batch(1)
        #expect(throws: BatchFailure.timedOut) { try batch.wait(most: 1, milliseconds: 0) }
        #expect(throws: BatchFailure.timedOut) { try batch.wait(most: 1, milliseconds: 0) }
        batch.close()
        #expect(throws: BatchFailure.closed) { try batch.wait(most: 1, milliseconds: .min) }
    }

    @Test("Z14: at the deadline the remaining items time out") func endsAtItsDeadline() throws {
        let batch = try batch(5) {
            $0.lookAhead = 2
            $0.limit = 1000
        }
        #expect(source.limits == [1000, 1000])
        source.end(1, body: [9])
        time.advance(microseconds: 1000)
        var items: [BatchItem] = []
        while true {
            let taken = try batch.wait(most: 1, milliseconds: 10_000)
            if taken.isEmpty { break }
            items += taken
        }
        #expect(Set(items.map(\.index)) == [0, 1, 2, 3, 4] && items.count == 5)
        #expect(items.filter { $0.error == nil }.map(\.index) == [1])
        #expect(items.filter { $0.error?.detail == .timeoutTotal }.count == 4)
        #expect(source.submitted == 2 && source.cancelled == 1)
        #expect(batch.counts.failed == 4 && batch.counts.cancelled == 0)
        batch.close()
    }

    @Test("Z14: a cancel ends every item once") func endsAfterACancel() throws {
        let batch = try batch(200) { $0.lookAhead = 8 }
        batch.cancel()
        batch.cancel()
        var indexes: [Int] = []
        while case let items = try batch.wait(most: 3, milliseconds: 10_000), !items.isEmpty {
            #expect(items.allSatisfy { $0.error?.code == .cancelled })
            indexes += items.map(\.index)
        }
        #expect(indexes.sorted() == Array(0..<200))
        #expect(source.submitted == 8 && batch.counts.cancelled == 200)
        batch.close()
    }

    @Test func itemsThatCannotBeSubmittedFail() throws {
        source.isClosed = true
        let batch = try batch(2)
        let items = try batch.wait(most: 9, milliseconds: 0)
        #expect(items.map { $0.error?.detail } == [.closed, .closed])
        batch.close()
    }

    @Test("Z14: closing waits for items under way, and wakes waiting threads") func closesWhileAThreadWaits() throws {
        let batch = try batch(1)
        let (begun, closed) = (Expectation(), Expectation())
        let waiter = try NativeThread(name: "waiter") {
            begun.fulfil()
            _ = try? batch.wait(most: 1, milliseconds: -1)
            closed.fulfil()
        }
        #expect(begun.wait())
        batch.close()
        #expect(closed.wait())
        #expect(source.cancelled == 1)
        waiter.join()
    }

    @Test("Z14: waiting inside the input function is refused") func refusesToWaitForItself() throws {
        let input = AskingInput()
        let batch = try Batch.make(input, source: source, rules: Batch.Rules(), time: time)
        #expect(input.failures == 0)
        input.batch = batch
        source.end(0, body: [])
        _ = try batch.wait(most: 1, milliseconds: 0)
        #expect(input.failures == 1)
        #expect(!batch.isAsking)
        input.batch = nil
        batch.close()
    }

    @Test func aURLHasAHost() {
        let hosts = [
            "http://a.example/x": "a.example", "HTTPS://User:p@B.example:81?q": "b.example:81",
            "http://[::1]:5#f": "[::1]:5",
            "data:x": "", "": "", "x": "", "http://": "", "http:/a": "",
        ]
        for (url, host) in hosts { #expect(BatchEntry(url: Array(url.utf8) + [0], id: 0).host == host) }
        #expect(BatchEntry(url: nil, id: 0).host == "" && BatchEntry(url: [], id: 0).host == "")
    }

    @Test("Z14: the requests to a host are limited") func boundsTheHosts() {
        var counts = BatchCounts()
        for number in 0..<1500 { counts.count(DownloadResult(ended: 0), of: "h\(number)") }
        counts.count(DownloadResult(ended: 0), of: "h0")
        #expect(counts.hosts.count <= 1001)
        #expect(counts.hosts.last?.name == BatchCounts.otherHosts)
        #expect(counts.hosts.reduce(0) { $0 + $1.host.items } == 1501)
        #expect(counts.hosts.first?.host.items == 2)
    }
}

// MARK: - Sources and inputs

/// A source whose items end when the test says so.
private final class HeldSource: BatchSource {
    private struct State {
        var callbacks: [any AppCallbacks] = []
        var limits: [Int64] = []
        var cancelled = 0
        var isClosed = false
        var ended: Set<Int> = []
    }

    private let state = Monitor(State())

    var submitted: Int { state.withLock { $0.callbacks.count } }
    var cancelled: Int { state.withLock { $0.cancelled } }
    var limits: [Int64] { state.withLock { $0.limits } }
    var isClosed: Bool {
        get { state.withLock { $0.isClosed } }
        set { state.withLock { $0.isClosed = newValue } }
    }

    func submit(_ entry: BatchEntry, in form: DecodeOptions?, totalLimit: Int64, callbacks: any AppCallbacks) -> UInt64?
    {
        state.withLock { state in
            if state.isClosed { return nil }
            state.callbacks.append(callbacks)
            state.limits.append(totalLimit)
            return UInt64(state.callbacks.count - 1)
        }
    }

    func cancel(_ token: UInt64) {
        state.withLock { $0.cancelled += 1 }
        end(Int(token), error: .cancelledSending)
    }

    func end(_ index: Int, body: [UInt8]) {
        var metrics = DownloadMetrics()
        metrics.bodyBytes = Int64(body.count)
        end(index, DownloadResult(bytes: body.withUnsafeBytes { Bytes(copying: $0) }, metrics: metrics, ended: 0))
    }

    func end(_ index: Int, error: DownloadError) { end(index, DownloadResult(error: error, ended: 0)) }

    private func end(_ index: Int, _ result: DownloadResult) {
        let callbacks = state.withLock { state in
            state.ended.insert(index).inserted ? state.callbacks[index] : nil
        }
        callbacks?.completed(result, token: UInt64(index))
    }
}

private final class CountedInput: BatchInput, @unchecked Sendable {
    // Safety: `next` is called on one thread at a time.
    let count: Int?
    private var last = 0

    init(_ count: Int) { self.count = count }

    func next() -> BatchEntry? {
        last += 1
        return BatchEntry(url: Array("http://host:8080/\(last)".utf8) + [0], id: UInt64(99 + last))
    }
}

/// An input of one item; the second call tries calls that are forbidden inside it.
private final class AskingInput: BatchInput, @unchecked Sendable {
    // Safety: used on one thread.
    var batch: Batch?
    var failures = 0
    private var given = 0

    var count: Int? { nil }

    func next() -> BatchEntry? {
        if let batch {
            #expect(batch.isAsking)
            #expect(throws: BatchFailure.wouldDeadlock) { try batch.wait(most: 1, milliseconds: -1) }
            failures += 1
            return nil
        }
        given += 1
        return given <= 64 ? BatchEntry(url: [0], id: 0) : nil
    }
}
