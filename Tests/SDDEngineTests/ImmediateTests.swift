import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// Requests of the library's own, whose ends are told on the deciding thread: nobody need take events.
@Suite struct ImmediateTests {
    private let transport = FakeTransport()

    @Test func endsWhereItIsDecidedWithoutAnyDelivery() throws {
        let downloader = try transport.makeDownloader(host: true)
        let receiver = RecordingReceiver()
        try downloader.submit("a", receiver: receiver, isImmediate: true) { $0.wantsProgress = true }
        transport.answerAll(with: [1, 2])
        #expect(receiver.record.results.first?.bytes?.count == 2)
        #expect(receiver.record.thread == .current && receiver.record.releases == 1)
        // Nothing of it waits for the host, no progress either.
        #expect(try downloader.dispatch(max: 0) == 0)
        #expect(receiver.record.progress.isEmpty)
        try downloader.waitUntilIdle(milliseconds: 0)
        downloader.destroy()
        #expect(receiver.record.releases == 1)
    }

    @Test func endsOnADecodeThreadThoughTheCallbackThreadIsBusy() throws {
        let picture = try Fixtures.array("png/size-1x1.png")
        let downloader = try transport.makeDownloader()
        let immediate = RecordingReceiver()
        let (isBusy, isOver) = (Expectation(), Expectation())
        let host = RecordingReceiver(onCompleted: { _ in
            isBusy.fulfil()
            _ = isOver.wait()
        })
        try downloader.submit("a", receiver: host)
        transport.answerAll(with: [1])
        #expect(isBusy.wait())
        try downloader.submit("b", receiver: immediate, isImmediate: true) { $0.wantsPixels = true }
        transport.answerAll(with: picture)
        #expect(immediate.waitUntilReleased())
        #expect(immediate.record.results.first?.image != nil)
        #expect(host.record.releases == 0)
        isOver.fulfil()
        downloader.destroy()
    }

    @Test func aRequestThatCannotBeMadeEndsInTheSubmittingCall() throws {
        let downloader = try transport.makeDownloader(host: true)
        let receiver = RecordingReceiver()
        let error = DownloadError(.invalidURL, .urlNull, "no")
        _ = downloader.submit(.failure(error), receiver: receiver, isImmediate: true)
        #expect(receiver.record.results.map(\.error) == [error])
        downloader.destroy()
    }

    @Test func sharesATransferWithOthersAndEachIsToldItsWay() throws {
        let downloader = try transport.makeDownloader(host: true)
        let (immediate, host) = (RecordingReceiver(), RecordingReceiver())
        try downloader.submit("a", receiver: host)
        try downloader.submit("a", receiver: immediate, isImmediate: true)
        transport.answerAll(with: [1])
        #expect(immediate.record.results.count == 1 && host.record.results.isEmpty)
        #expect(try downloader.dispatch(max: 0) == 1)
        #expect(host.record.results.count == 1)
        downloader.destroy()
    }

    @Test("Z1: cancelled or destroyed, it ends once, too", arguments: [false, true])
    func endsOnceWithTheDownloader(destroys: Bool) throws {
        let downloader = try transport.makeDownloader(host: true)
        let receiver = RecordingReceiver()
        try downloader.submit("a", receiver: receiver, isImmediate: true)
        if !destroys { downloader.cancelAll() }
        downloader.destroy()
        #expect(receiver.record.results.map(\.error?.code) == [.cancelled])
        #expect(receiver.record.releases == 1)
    }
}
