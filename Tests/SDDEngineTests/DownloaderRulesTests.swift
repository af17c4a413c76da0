import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// Settings and queries of a downloader: rules, closing, background, counts, the application's transports.
@Suite struct DownloaderRulesTests {
    private let transport = FakeTransport()

    private func commands() -> [Order] { transport.turn().map { Order($0) } }

    @Test("D7 D10: rules come from the configuration, change while it lives, and can be asked for")
    func rulesChangeLive() throws {
        let downloader = try transport.makeDownloader {
            $0.maxConcurrentDownloads = 1
            $0.order = .lifo
        }
        for number in 0..<4 { try downloader.submit("\(number)", callbacks: RecordingCallbacks()) }
        #expect(commands().started == [1])
        downloader.setMaxConcurrentPerHost(2)
        downloader.setMaxConcurrentDownloads(3)
        #expect(commands().started == [4])
        downloader.setOrder(.fifo)
        downloader.setMaxConcurrentPerHost(5)
        #expect(commands().started == [2])
        downloader.setReservedUrgentSlots(2)
        let current = downloader.currentConfiguration
        #expect(current.maxConcurrentDownloads == 3 && current.maxConcurrentPerHost == 5)
        #expect(current.reservedUrgentSlots == 2 && current.order == .fifo)
        #expect(downloader.configuration.maxConcurrentDownloads == 1)
        downloader.destroy()
    }

    @Test("G3 Z3: times are given in milliseconds")
    func timesAreGivenInMilliseconds() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true) {
            $0.minProgressMilliseconds = .max
            $0.ageingMilliseconds = .max
        }
        let callbacks = RecordingCallbacks()
        try downloader.submit("a", callbacks: callbacks) { $0.wantsProgress = true }
        let id = try #require(transport.started().first)
        transport.respond(id, expected: 9)
        for count in 1...8 as ClosedRange<Int64> {
            transport.report([.received(id, count)])
            _ = try downloader.dispatch(max: 0)
        }
        transport.finish(id, with: Array(repeating: 0, count: 9))
        _ = try downloader.dispatch(max: 0)
        #expect(callbacks.record.progress == [[0, -1], [0, 9], [1, 9], [9, 9]])
        downloader.destroy()
    }

    @Test("R3 Z5: a new priority goes to the transport")
    func aNewPriorityGoesToTheTransport() throws {
        let downloader = try transport.makeDownloader()
        let token = try #require(try downloader.submit("a", callbacks: RecordingCallbacks()))
        _ = commands()
        let wakes = transport.wakes
        #expect(downloader.setPriority(.high, of: token))
        #expect(transport.wakes == wakes + 1)
        #expect(commands() == [.setPriority(1, .high)])
        #expect(downloader.information(on: token)?.priority == .high)
        #expect(!downloader.setPriority(.high, of: 0) && downloader.information(on: 0) == nil)
        downloader.destroy()
    }

    @Test("D17 D18: drained, it accepts nothing more and lets its requests finish")
    func drains() throws {
        let downloader = try transport.makeDownloader()
        let (first, late) = (RecordingCallbacks(), RecordingCallbacks())
        try downloader.submit("a", callbacks: first)
        downloader.close(cancels: false)
        #expect(try downloader.submit("b", callbacks: late) != nil)
        let unusable = RecordingCallbacks()
        _ = downloader.submit(.failure(DownloadError(.invalidURL, .urlNull, "no")), callbacks: unusable)
        transport.answerAll(with: [1])
        try downloader.waitUntilIdle(milliseconds: 30_000)
        #expect(first.record.results.map(\.error?.code) == [nil])
        #expect(late.record.results.map(\.error?.detail) == [.closed])
        #expect(unusable.record.results.map(\.error?.detail) == [.closed])
        downloader.destroy()
    }

    @Test("D17: closed with cancel, every request ends with 2002")
    func closesWithCancel() throws {
        let downloader = try transport.makeDownloader()
        let callbacks = RecordingCallbacks()
        try downloader.submit("a", callbacks: callbacks)
        downloader.close(cancels: true)
        try downloader.waitUntilIdle(milliseconds: 30_000)
        #expect(callbacks.record.results.map(\.error?.code) == [.cancelled])
        downloader.destroy()
    }

    @Test("D19: suspended and resumed")
    func suspends() throws {
        let downloader = try transport.makeDownloader()
        downloader.setSuspended(true)
        #expect(downloader.isSuspended)
        try downloader.submit("a", callbacks: RecordingCallbacks())
        #expect(commands().isEmpty)
        downloader.setSuspended(false)
        #expect(!downloader.isSuspended && commands() == [.start(1, .normal)])
        downloader.destroy()
    }

    @Test("O4: the grace time is given in milliseconds", arguments: [-1, .max, 1 << 40] as [Int64])
    func goesToTheBackground(grace: Int64) throws {
        let downloader = try transport.makeDownloader()
        try downloader.submit("a", callbacks: RecordingCallbacks())
        try downloader.submit("b", callbacks: RecordingCallbacks()) { $0.continuesInBackground = true }
        _ = commands()
        downloader.enterBackground(milliseconds: grace)
        #expect(commands() == [.pause(1)])
        #expect((transport.deadline == .max) == (grace < 0))
        downloader.enterBackground(milliseconds: 0)
        #expect(commands() == [.cancel(2)])
        downloader.enterForeground()
        #expect(commands() == [.resume(1)])
        downloader.destroy()
    }

    @Test("D8 D20: counts its requests and its work")
    func counts() throws {
        let picture = try Fixtures.array("png/size-1x1.png")
        let downloader = try transport.makeDownloader { $0.maxConcurrentDownloads = 1 }
        let callbacks = RecordingCallbacks()
        try downloader.submit("a", callbacks: callbacks) { $0.wantsPixels = true }
        for name in ["b", "c", "c"] { try downloader.submit(name, callbacks: RecordingCallbacks()) }
        #expect(downloader.currentDownloadCount == 3)
        #expect(downloader.statistics.waiting == 2 && downloader.statistics.running == 1)
        transport.answerAll(with: picture)
        #expect(callbacks.waitUntilReleased())
        transport.fail(try #require(transport.started().first))
        downloader.cancelAll()
        let counts = downloader.statistics
        #expect(counts.requests == 4 && counts.joined == 1 && counts.imagesDecoded == 1)
        #expect(counts.succeeded == 1 && counts.failed == 1 && counts.cancelled == 2)
        #expect(counts.transfersStarted == 3 && counts.bodyBytes == Int64(picture.count))
        #expect(downloader.currentDownloadCount == 0)
        downloader.destroy()
    }

    // MARK: - The application's own transports

    private func submit(
        _ downloader: Downloader, _ appTransport: FakeAppTransport, _ callbacks: RecordingCallbacks,
        stall: Int64 = 15_000
    ) throws {
        var values = TransferOptions.Values()
        values.clocks.stall = stall
        try downloader.submit("a", callbacks: callbacks) {
            $0.transfer.appTransport = appTransport
            $0.transfer.options = TransferOptions(values)
        }
    }

    @Test("D27: an app transport gets its transfer, and its answers are delivered")
    func anAppTransportAnswers() throws {
        let appTransport = FakeAppTransport()
        let downloader = try transport.makeDownloader()
        let callbacks = RecordingCallbacks()
        try submit(downloader, appTransport, callbacks)
        #expect(commands().isEmpty)
        #expect(appTransport.called == [.start(1, url: "http://host/a", .normal)])
        let isTaken = try downloader.appResponded(
            1, status: 203, fields: Sample.fields(type: "image/png"), expectedBytes: 3)
        let refused = try [UInt8](1...3).withUnsafeBytes { try downloader.appReceived(1, $0) }
        #expect(isTaken && refused == nil)
        try downloader.appFinished(1, nil)
        #expect(callbacks.waitUntilReleased())
        #expect(callbacks.record.results.first?.bytes?.count == 3)
        #expect(callbacks.record.results.first?.httpStatus == 203)
        #expect(throws: AppTransfers.Refusal.unknown) { try downloader.appFinished(1, nil) }
        downloader.destroy()
    }

    @Test("D27: more than max_body_bytes ends it; a cancel and the end of the downloader reach it")
    func anAppTransportIsStopped() throws {
        let appTransport = FakeAppTransport()
        let downloader = try transport.makeDownloader { $0.transport.maxBodyBytes = 2 }
        let recorders = (0..<3).map { _ in RecordingCallbacks() }
        try submit(downloader, appTransport, recorders[0])
        _ = commands()
        let refused = try [UInt8](1...3).withUnsafeBytes { try downloader.appReceived(1, $0) }
        #expect(refused?.kind == .bodyTooLarge && recorders[0].waitUntilReleased())
        #expect(recorders[0].record.results.first?.error?.code == .bodyTooLarge)
        try submit(downloader, appTransport, recorders[1])
        _ = commands()
        downloader.cancelAll()
        _ = commands()
        #expect(appTransport.called.last == .cancel(2))
        try submit(downloader, appTransport, recorders[2])
        _ = commands()
        downloader.destroy()
        #expect(appTransport.called.last == .cancel(3))
    }

    @Test("D27 Z6: whatever a look at the clocks ends is reported, however the clock of an answer ran")
    func whatALookEndsIsReported() throws {
        // given: a transfer whose limit is in the future when a turn begins, and in the past when another starts in it
        let clock = ManualTime(microseconds: SystemTime().monotonicMicroseconds() + 3_600_000_000)
        let downloader = try transport.makeDownloader(appTime: clock)
        let callbacks = RecordingCallbacks(), other = RecordingCallbacks()
        try submit(downloader, FakeAppTransport(), callbacks, stall: 1000)
        _ = commands()
        let answering = FakeAppTransport { _ in
            clock.advance(milliseconds: -7_200_000)
            _ = try? downloader.appResponded(1, status: 200, fields: ResponseFields(), expectedBytes: -1)
        }
        try submit(downloader, answering, other)
        _ = commands()
        // when
        clock.advance(milliseconds: 1000)
        _ = commands()
        // then
        #expect(callbacks.waitUntilReleased())
        #expect(callbacks.record.results.first?.error?.detail == .timeoutStall)
        downloader.destroy()
    }

    @Test("D27: a transfer that ends while it is started frees its slot, and the loop turns again at once for the next")
    func aSlotThatIsFreedByALookIsUsed() throws {
        let clock = ManualTime()
        let downloader = try transport.makeDownloader(appTime: clock) { $0.maxConcurrentDownloads = 1 }
        let callbacks = RecordingCallbacks()
        try submit(downloader, FakeAppTransport { _ in clock.advance(milliseconds: 1000) }, callbacks, stall: 1000)
        let last = FakeAppTransport()
        try submit(downloader, last, RecordingCallbacks())
        transport.turn()
        #expect(callbacks.waitUntilReleased())
        #expect(transport.deadline <= SystemTime().monotonicMicroseconds())
        transport.turn()
        #expect(last.called.count == 1)
        downloader.destroy()
    }

    @Test("D27 Z6: its time limits apply, though only the clock wakes the loop")
    func aSilentAppTransportTimesOut() throws {
        let downloader = try transport.makeDownloader()
        let callbacks = RecordingCallbacks()
        try submit(downloader, FakeAppTransport(), callbacks, stall: 1)
        // The turn that starts it already returns when to ask again.
        transport.turn()
        #expect(transport.deadline < SystemTime().monotonicMicroseconds() + 2000)
        while downloader.currentDownloadCount > 0 { transport.turn() }
        #expect(callbacks.waitUntilReleased())
        #expect(callbacks.record.results.first?.error?.detail == .timeoutStall)
        downloader.destroy()
    }
}
