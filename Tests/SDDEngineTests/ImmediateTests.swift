import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// Internal requests of the library, whose ends are reported on the deciding thread, without taking events.
@Suite struct ImmediateTests {
    private let transport = FakeTransport()

    @Test func endsOnTheDecidingThreadWithoutDelivery() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        let callbacks = RecordingCallbacks()
        try downloader.submit("a", callbacks: callbacks, isImmediate: true) { $0.wantsProgress = true }
        transport.answerAll(with: [1, 2])
        #expect(callbacks.record.results.first?.bytes?.count == 2)
        #expect(callbacks.record.thread == .current && callbacks.record.releases == 1)
        // No event is queued for the application, not even progress.
        #expect(try downloader.dispatch(max: 0) == 0)
        #expect(callbacks.record.progress.isEmpty)
        try downloader.waitUntilIdle(milliseconds: 0)
        downloader.destroy()
        #expect(callbacks.record.releases == 1)
    }

    @Test func endsOnADecodeThreadThoughTheCallbackThreadIsBusy() throws {
        let picture = try Fixtures.array("png/size-1x1.png")
        let downloader = try transport.makeDownloader()
        let immediate = RecordingCallbacks()
        let (isBusy, isOver) = (Expectation(), Expectation())
        let host = RecordingCallbacks(onCompleted: { _ in
            isBusy.fulfil()
            _ = isOver.wait()
        })
        try downloader.submit("a", callbacks: host)
        transport.answerAll(with: [1])
        #expect(isBusy.wait())
        try downloader.submit("b", callbacks: immediate, isImmediate: true) { $0.wantsPixels = true }
        transport.answerAll(with: picture)
        #expect(immediate.waitUntilReleased())
        #expect(immediate.record.results.first?.image != nil)
        #expect(host.record.releases == 0)
        isOver.fulfil()
        downloader.destroy()
    }

    @Test func aRequestThatCannotBeMadeEndsInTheSubmittingCall() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        let callbacks = RecordingCallbacks()
        let error = DownloadError(.invalidURL, .urlNull, "no")
        _ = downloader.submit(.failure(error), callbacks: callbacks, isImmediate: true)
        #expect(callbacks.record.results.map(\.error) == [error])
        downloader.destroy()
    }

    @Test func sharesATransferWithOthersAndEachEndsItsWay() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        let (immediate, host) = (RecordingCallbacks(), RecordingCallbacks())
        try downloader.submit("a", callbacks: host)
        try downloader.submit("a", callbacks: immediate, isImmediate: true)
        transport.answerAll(with: [1])
        #expect(immediate.record.results.count == 1 && host.record.results.isEmpty)
        #expect(try downloader.dispatch(max: 0) == 1)
        #expect(host.record.results.count == 1)
        downloader.destroy()
    }

    @Test("Z1: cancelled or destroyed, it ends once, too", arguments: [false, true])
    func endsOnceWithTheDownloader(destroys: Bool) throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        let callbacks = RecordingCallbacks()
        try downloader.submit("a", callbacks: callbacks, isImmediate: true)
        if !destroys { downloader.cancelAll() }
        downloader.destroy()
        #expect(callbacks.record.results.map(\.error?.code) == [.cancelled])
        #expect(callbacks.record.releases == 1)
    }
}
