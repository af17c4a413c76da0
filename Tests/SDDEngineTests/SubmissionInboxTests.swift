import SDDBase
import TestSupport
import Testing

@testable import SDDEngine

/// Requests on their way to the table.
@Suite struct SubmissionInboxTests {
    private let inbox = SubmissionInbox()

    private func add(_ number: UInt64) throws -> Bool {
        let listener = Listener(token: number, callbacks: RecordingCallbacks())
        return inbox.add(.made(try Sample.request("http://host/\(number)"), listener, time: 0))
    }

    @Test func requestsAreTakenOnceInTheirOrder() throws {
        #expect(inbox.takeAll().isEmpty)
        for number in 1...2 as ClosedRange<UInt64> { _ = try add(number) }
        let plain = try #require(Sample.plain(try Sample.request("http://host/3")))
        plain.accepted(as: 3, at: 0)
        _ = inbox.add(.plain(plain))
        _ = try add(4)
        #expect(inbox.takeAll().map(\.token) == [1, 2, 3, 4])
        #expect(inbox.takeAll().isEmpty)
    }

    @Test func onlyTheFirstRequestOfAnEmptyInboxWakes() throws {
        #expect(try add(1))
        #expect(try !add(2))
        _ = inbox.takeAll()
        #expect(try add(3))
    }
}

extension SubmissionInbox.Submission {
    fileprivate var token: UInt64 {
        switch self {
        case .made(_, let listener, _): listener.token
        case .plain(let plain): plain.token
        }
    }
}
