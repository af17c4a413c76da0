import Glibc
import SDDBase
import SDDCoders
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// A whole downloader over a network that the test plays: its threads, its end, its delivery.
@Suite struct DownloaderTests {
    private let transport = FakeTransport()

    @Test("D21 Z1: delivers the end once, on its own thread, and then frees the callbacks")
    func deliversTheEndOnceOnItsOwnThread() throws {
        let downloader = try transport.makeDownloader()
        let callbacks = RecordingCallbacks()
        let token = try #require(try downloader.submit("a", callbacks: callbacks))
        transport.answerAll(with: [1, 2, 3])
        #expect(callbacks.waitUntilReleased())
        downloader.destroy()
        #expect(callbacks.record.results.count == 1)
        #expect(callbacks.record.results.first?.bytes?.count == 3)
        #expect(callbacks.record.token == token)
        #expect(callbacks.record.releases == 1)
        #expect(callbacks.record.thread != .current)
        #expect(transport.isEnded)
    }

    @Test("D21: a request that cannot be made ends by its callback, with its error")
    func anInvalidRequestEndsByItsCallback() throws {
        let downloader = try transport.makeDownloader()
        let callbacks = RecordingCallbacks()
        let token = downloader.submit(.failure(DownloadError(.invalidURL, .urlNull, "no")), callbacks: callbacks)
        #expect(token != nil)
        #expect(callbacks.waitUntilReleased())
        #expect(callbacks.record.results.first?.error?.detail == .urlNull)
        #expect(callbacks.record.results.first?.stage == .submit)
        downloader.destroy()
    }

    @Test("D26: a submitted request wakes the transport, which asks for it once for all that wait")
    func aSubmittedRequestWakesTheTransport() throws {
        let downloader = try transport.makeDownloader { $0.maxConcurrentDownloads = 1 }
        try downloader.submit("a", callbacks: RecordingCallbacks())
        #expect(transport.wakes == 1)
        #expect(transport.turn().map { Order($0) } == [.start(1, .normal)])
        for path in ["b", "c", "d"] { try downloader.submit(path, callbacks: RecordingCallbacks()) }
        #expect(transport.wakes == 2)
        #expect(transport.turn().isEmpty && downloader.currentDownloadCount == 4)
        downloader.destroy()
    }

    @Test("Z1 Z19: destroying delivers all pending events before it returns; afterwards no request is accepted")
    func destroyDeliversPendingEventsBeforeItReturns() throws {
        let downloader = try transport.makeDownloader()
        let recorders = (0..<100).map { _ in RecordingCallbacks() }
        for (number, callbacks) in recorders.enumerated() {
            #expect(try downloader.submit("\(number)", callbacks: callbacks) != nil)
        }
        transport.turn()
        downloader.destroy()
        for callbacks in recorders {
            #expect(callbacks.record.results.map(\.error?.code) == [.cancelled])
            #expect(callbacks.record.releases == 1)
        }
        #expect(try downloader.submit("late", callbacks: RecordingCallbacks()) == nil)
    }

    @Test func destroyInsideACallbackNeitherHangsNorLosesAnything() throws {
        let downloader = try transport.makeDownloader()
        let ended = Expectation()
        let first = RecordingCallbacks(onCompleted: { _ in downloader.destroy() })
        let second = RecordingCallbacks(onCompleted: { _ in ended.fulfil() })
        try downloader.submit("first", callbacks: first)
        try downloader.submit("second", callbacks: second)
        transport.answer(try #require(transport.started().first), with: [1])
        #expect(ended.wait())
        #expect(second.waitUntilReleased())
        #expect(second.record.results.map(\.error?.code) == [.cancelled])
    }

    @Test("K6: cancelling inside a callback is allowed, more than once")
    func cancellingInsideACallbackIsAllowed() throws {
        let downloader = try transport.makeDownloader()
        let victim = RecordingCallbacks()
        let token = try #require(try downloader.submit("victim", callbacks: victim))
        let answers = Recorder<Bool>()
        let killer = RecordingCallbacks(onCompleted: { _ in
            for _ in 0..<2 { answers.record(downloader.cancel(token) != nil) }
        })
        _ = downloader.submit(.failure(DownloadError(.invalidURL, .urlEmpty, "no")), callbacks: killer)
        #expect(victim.waitUntilReleased())
        #expect(victim.record.results.map(\.error?.code) == [.cancelled])
        #expect(answers.wait(count: 2) == [true, false])
        downloader.destroy()
    }

    @Test func progressComesInOrderAndNeverAfterTheEnd() throws {
        let downloader = try transport.makeDownloader()
        let callbacks = RecordingCallbacks()
        try downloader.submit("a", callbacks: callbacks) { $0.wantsProgress = true }
        let id = try #require(transport.started().first)
        transport.respond(id, expected: 10)
        transport.report([.received(id, 4)])
        #expect(callbacks.waitForProgress(3))
        transport.finish(id, with: Array(repeating: 0, count: 10))
        #expect(callbacks.waitUntilReleased())
        downloader.destroy()
        #expect(callbacks.record.progress == [[0, -1], [0, 10], [4, 10], [10, 10]])
        #expect(!callbacks.record.calledAfterRelease)
    }

    @Test func theLastProgressIsDeliveredEvenIfThePictureIsDecodedAtOnce() throws {
        let picture = try Fixtures.array("png/size-1x1.png")
        let downloader = try transport.makeDownloader()
        for number in 0..<300 {
            let callbacks = RecordingCallbacks()
            try downloader.submit("\(number)", callbacks: callbacks) {
                $0.wantsProgress = true
                $0.wantsPixels = true
            }
            transport.answerAll(with: picture)
            #expect(callbacks.waitUntilReleased())
            #expect(callbacks.record.results.first?.image != nil)
            #expect(callbacks.record.progress.last == [Int64(picture.count), Int64(picture.count)])
        }
        downloader.destroy()
    }

    @Test(
        "X36 X38: errors of the real decoders, through the whole downloader",
        arguments: [
            ([], .imageEmpty), ([1, 2, 3], .imageUnknownFormat), (Array("<html>".utf8), .imageUnknownFormat),
            ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], .imageTruncated), ([0xff, 0xd8, 0xff], .imageTruncated),
        ] as [([UInt8], DownloadError.Detail)])
    func aBodyThatIsNoPictureIsBadData(_ body: [UInt8], _ detail: DownloadError.Detail) throws {
        let downloader = try transport.makeDownloader()
        let callbacks = RecordingCallbacks()
        try downloader.submit("a", callbacks: callbacks) { $0.wantsPixels = true }
        transport.answerAll(with: body)
        #expect(callbacks.waitUntilReleased())
        #expect(callbacks.record.results.first?.error?.code == .badImageData)
        #expect(callbacks.record.results.first?.error?.detail == detail)
        downloader.destroy()
    }

    @Test("B3: the application's work on a body runs on a decode thread, and its result is decoded")
    func bodyWorkRunsOnADecodeThread() throws {
        let picture = try Fixtures.bytes("png/size-1x1.png")
        let threads = Recorder<ThreadIdentity>()
        let work = BodyWork(
            modifier: { _ in
                threads.record(.current)
                return .init(200, "image/png")
            },
            transform: { _, _ in picture }, identity: [1])
        let downloader = try transport.makeDownloader()
        let callbacks = RecordingCallbacks()
        try downloader.submit("a", callbacks: callbacks) {
            $0.wantsPixels = true
            $0.bodyWork = work
        }
        transport.answerAll(with: [1, 2], status: 500)
        #expect(callbacks.waitUntilReleased())
        #expect(callbacks.record.results.first?.image?.bytes === picture)
        #expect(threads.all.count == 1 && threads.all.first != .current)
        #expect(threads.all.first != callbacks.record.thread)
        downloader.destroy()
    }

    /// An object of the application whose release calls the library, as `user_data_free` may.
    private final class Caller: Sendable {
        let downloader: Downloader
        let counts: Recorder<Int>

        init(_ downloader: Downloader, _ counts: Recorder<Int>) {
            self.downloader = downloader
            self.counts = counts
        }

        deinit { counts.record(downloader.currentDownloadCount) }
    }

    @Test("the data of a request that joins another may call the library when it is freed", .timeLimit(.minutes(1)))
    func dataOfAJoiningRequestIsFreedWithoutTheLock() throws {
        // given
        let downloader = try transport.makeDownloader()
        let counts = Recorder<Int>()
        func submit() throws -> UInt64 {
            let caller = Caller(downloader, counts)
            let transform: BodyWork.Transform = { bytes, _ in withExtendedLifetime(caller) { bytes } }
            let work = BodyWork(modifier: nil, transform: transform, identity: [1])
            return try #require(downloader.submit("a", callbacks: RecordingCallbacks()) { $0.bodyWork = work })
        }
        _ = try submit()
        _ = transport.started()
        let joining = try submit()
        #expect(transport.started().isEmpty && downloader.statistics.joined == 1)
        // when
        #expect(downloader.cancel(joining) != nil)
        // then
        #expect(counts.all == [1])
        downloader.destroy()
        #expect(counts.all.count == 2)
    }

    @Test func waitingInsideACallbackIsRefused() throws {
        let downloader = try transport.makeDownloader()
        let refused = Expectation()
        let callbacks = RecordingCallbacks(onCompleted: { _ in
            do throws(DeliveryFailure) {
                try downloader.waitUntilIdle(milliseconds: -1)
            } catch {
                if error == .wouldDeadlock { refused.fulfil() }
            }
        })
        try downloader.submit("a", callbacks: callbacks)
        transport.answerAll(with: [1])
        #expect(refused.wait())
        try downloader.waitUntilIdle(milliseconds: 30_000)
        downloader.destroy()
    }

    @Test func waitingForASilentTransferTimesOut() throws {
        let downloader = try transport.makeDownloader()
        try downloader.submit("a", callbacks: RecordingCallbacks())
        #expect(throws: DeliveryFailure.timedOut) { try downloader.waitUntilIdle(milliseconds: 1) }
        downloader.destroy()
    }

    @Test(
        "if the transport cannot start, nothing is left behind, and the error says why",
        arguments: [
            (.noResources, .noResources("no")), (.unsupported, .unsupported("no")),
            (.badConfiguration, .badConfiguration("no")),
        ] as [(TransportError.Kind, CreationFailure)])
    func aFailedStartOfTheTransportIsReported(_ kind: TransportError.Kind, _ failure: CreationFailure) {
        let error = TransportError(kind, systemError: EAGAIN, message: "no")
        #expect(throws: failure) { try FakeTransport(failingToStart: error).makeDownloader() }
    }

    @Test("Z6: an expired limit ends its request in the turn for which the downloader asked")
    func aLimitEndsARequest() throws {
        let downloader = try transport.makeDownloader()
        let callbacks = RecordingCallbacks()
        try downloader.submit("a", callbacks: callbacks) { $0.totalLimit = 1000 }
        #expect(transport.started().count <= 1)
        // A millisecond, for which the loop turns.
        while downloader.currentDownloadCount > 0 { transport.turn() }
        #expect(callbacks.waitUntilReleased())
        #expect(callbacks.record.results.first?.error?.detail == .timeoutTotal)
        #expect(transport.deadline == .max)
        downloader.destroy()
    }
}
