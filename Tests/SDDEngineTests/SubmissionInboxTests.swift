import SDDBase
import TestSupport
import Testing

@testable import SDDEngine

/// Requests on their way to the table.
@Suite struct SubmissionInboxTests {
    private let inbox = SubmissionInbox()

    private func add(_ number: UInt64) throws -> Bool {
        let listener = Listener(token: number, callbacks: RecordingCallbacks())
        return inbox.add(.init(request: try Sample.request("http://host/\(number)"), listener: listener, time: 0))
    }

    @Test func requestsAreTakenOnceInTheirOrder() throws {
        #expect(inbox.takeAll().isEmpty)
        for number in 1...3 as ClosedRange<UInt64> { _ = try add(number) }
        #expect(inbox.takeAll().map(\.listener.token) == [1, 2, 3])
        #expect(inbox.takeAll().isEmpty)
    }

    @Test func onlyTheFirstRequestOfAnEmptyInboxWakes() throws {
        #expect(try add(1))
        #expect(try !add(2))
        _ = inbox.takeAll()
        #expect(try add(3))
    }
}
