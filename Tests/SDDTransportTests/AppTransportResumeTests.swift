import SDDBase
import SDDTransport
import TestSupport
import Testing

/// Z17: transports of the application, which know nothing of partial bodies; and the times of their responses.
@Suite struct AppTransportResumeTests {
    private final class SilentAppTransport: AppTransport {
        let requests = Recorder<HTTPRequest>()

        func start(_ id: TransferID, _ request: HTTPRequest, priority: Priority) { requests.record(request) }
        func cancel(_ id: TransferID) {}
        func setPriority(_ id: TransferID, to priority: Priority) {}
    }

    private let time = ManualTime(wallMicroseconds: 1_700_000_000_000_000)

    private func start(_ appTransport: SilentAppTransport, in transfers: AppTransfers, resume: ResumePoint? = nil)
        throws -> TransferID
    {
        let plain = try HTTPRequest(to: "http://a.test/")
        var request = HTTPRequest(url: plain.url, appTransport: appTransport)
        request.resume = resume
        let id = TransferID(1)
        var commands = [TransportCommand.start(id, request, .normal)]
        #expect(transfers.take(from: &commands).isEmpty)
        return id
    }

    @Test func handsOutTheAppTransportsBytesWithoutTheStoredPart() throws {
        // given
        let appTransport = SilentAppTransport()
        let transfers = AppTransfers(maxBodyBytes: 100, time: time)
        let part = try #require([1, 2, 3].withUnsafeBytes { Bytes(copying: $0) })
        // when
        let id = try start(
            appTransport, in: transfers, resume: ResumePoint(bytes: part, validator: .entityTag("\"a\"")))
        _ = try ([9, 8] as [UInt8]).withUnsafeBytes { try transfers.received(id, $0) }
        let events = try transfers.finished(id, nil)
        // then
        #expect(appTransport.requests.all.map { $0.resume == nil } == [true])
        guard case .finished(_, let end)? = events.last else {
            Issue.record("no end")
            return
        }
        #expect(try end.bytes() == [9, 8])
        #expect(end.metrics.resumedBytes == 0)
    }

    @Test func givesTheTimesOfRequestAndResponse() throws {
        // given
        let transfers = AppTransfers(maxBodyBytes: 100, time: time)
        let appTransport = SilentAppTransport()
        let id = try start(appTransport, in: transfers)
        // when
        time.advance(milliseconds: 700)
        let events = try transfers.responded(id, status: 200, fields: ResponseFields(), expectedBytes: -1)
        // then
        let head = try #require(events.first?.head)
        #expect(head.requestTime == 1_700_000_000_000_000)
        #expect(head.responseTime == 1_700_000_000_700_000)
    }
}
