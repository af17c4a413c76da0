import Glibc
import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// A whole downloader over a network that the test plays: its threads, its ends, its delivery.
struct DownloaderTests {
    private let transport = FakeTransport()

    private func makeDownloader(host: Bool = false) throws -> Downloader {
        var configuration = DownloaderConfiguration()
        if host { configuration.delivery = .host }
        return try Downloader.make(configuration, fields: HTTPFields(), transport: transport)
    }

    private func request(_ path: String, wantsProgress: Bool = false) throws -> Result<DownloadRequest, DownloadError> {
        var text = "http://host/\(path)"
        let url = try text.withUTF8 { try ImageURL(checking: $0, allowsFiles: false) }
        return .success(
            DownloadRequest(transfer: HTTPRequest(url: url), wantsPixels: false, wantsProgress: wantsProgress))
    }

    private func isReadable(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    // MARK: - A thread of its own

    @Test func tellsTheEndOnceOnItsOwnThreadAndThenLetsGo() throws {
        let downloader = try makeDownloader()
        let receiver = RecordingReceiver()
        let token = try #require(downloader.submit(try request("a"), receiver: receiver))
        transport.answerAll(with: [1, 2, 3])
        #expect(receiver.waitUntilReleased())
        downloader.destroy()
        #expect(receiver.record.results.count == 1)
        #expect(receiver.record.results.first?.bytes?.count == 3)
        #expect(receiver.record.token == token)
        #expect(receiver.record.releases == 1)
        #expect(receiver.record.thread != .current)
        #expect(transport.isEnded)
    }

    @Test func anUnusableRequestEndsByTheSameWay() throws {
        let downloader = try makeDownloader()
        let receiver = RecordingReceiver()
        let token = downloader.submit(.failure(DownloadError(.invalidURL, .urlNull, "no")), receiver: receiver)
        #expect(token != nil)
        #expect(receiver.waitUntilReleased())
        #expect(receiver.record.results.first?.error?.detail == .urlNull)
        downloader.destroy()
    }

    @Test func destroyDeliversWhatIsOwedBeforeItReturns() throws {
        let downloader = try makeDownloader()
        let receivers = (0..<100).map { _ in RecordingReceiver() }
        for (number, receiver) in receivers.enumerated() {
            #expect(downloader.submit(try request("\(number)"), receiver: receiver) != nil)
        }
        _ = transport.turn()
        downloader.destroy()
        for receiver in receivers {
            #expect(receiver.record.results.map(\.error?.code) == [.cancelled])
            #expect(receiver.record.releases == 1)
        }
        #expect(downloader.submit(try request("late"), receiver: RecordingReceiver()) == nil)
    }

    @Test func destroyInsideACallbackNeitherHangsNorLosesAnything() throws {
        let downloader = try makeDownloader()
        let ended = Expectation()
        let first = RecordingReceiver(onCompleted: { _ in downloader.destroy() })
        let second = RecordingReceiver(onCompleted: { _ in ended.fulfil() })
        _ = downloader.submit(try request("first"), receiver: first)
        _ = downloader.submit(try request("second"), receiver: second)
        if case .start(let id, _)? = transport.turn().first { transport.answer(id, with: [1]) }
        #expect(ended.wait())
        #expect(second.waitUntilReleased())
        #expect(second.record.results.map(\.error?.code) == [.cancelled])
    }

    @Test func cancellingInsideACallbackIsAllowed() throws {
        let downloader = try makeDownloader()
        let victim = RecordingReceiver()
        let token = try #require(downloader.submit(try request("victim"), receiver: victim))
        let killer = RecordingReceiver(onCompleted: { _ in
            _ = downloader.cancel(token)
            _ = downloader.cancel(token)
        })
        _ = downloader.submit(.failure(DownloadError(.invalidURL, .urlEmpty, "no")), receiver: killer)
        #expect(victim.waitUntilReleased())
        #expect(victim.record.results.map(\.error?.code) == [.cancelled])
        downloader.destroy()
    }

    @Test func progressComesInOrderAndNeverAfterTheEnd() throws {
        let downloader = try makeDownloader()
        let receiver = RecordingReceiver()
        _ = downloader.submit(try request("a", wantsProgress: true), receiver: receiver)
        let commands = transport.turn()
        guard case .start(let id, _)? = commands.first else {
            Issue.record("nothing was started")
            return
        }
        transport.report([.response(id, ResponseHead(status: 200, expectedBytes: 10)), .received(id, 4)])
        #expect(receiver.waitForProgress(3))
        transport.finish(id, with: Array(repeating: 0, count: 10))
        #expect(receiver.waitUntilReleased())
        downloader.destroy()
        #expect(receiver.record.progress == [[0, -1], [0, 10], [4, 10], [10, 10]])
        #expect(!receiver.record.calledAfterRelease)
    }

    @Test func theLastProgressComesAlsoWhenThePictureIsDecodedAtOnce() throws {
        let picture = try Fixtures.bytes("png/size-1x1.png")
        let downloader = try makeDownloader()
        for number in 0..<300 {
            let receiver = RecordingReceiver()
            var wish = try request("\(number)", wantsProgress: true).get()
            wish.wantsPixels = true
            _ = downloader.submit(.success(wish), receiver: receiver)
            transport.answerAll(with: Array(picture.pointer))
            #expect(receiver.waitUntilReleased())
            #expect(receiver.record.results.first?.image != nil)
            #expect(receiver.record.progress.last == [Int64(picture.count), Int64(picture.count)])
        }
        downloader.destroy()
    }

    @Test func waitingInsideACallbackIsRefusedAsADeadlock() throws {
        let downloader = try makeDownloader()
        let refused = Expectation()
        let receiver = RecordingReceiver(onCompleted: { _ in
            do throws(DeliveryFailure) {
                try downloader.waitUntilIdle(milliseconds: -1)
            } catch {
                if error == .wouldDeadlock { refused.fulfil() }
            }
        })
        _ = downloader.submit(try request("a"), receiver: receiver)
        transport.answerAll(with: [1])
        #expect(refused.wait())
        try downloader.waitUntilIdle(milliseconds: 30_000)
        downloader.destroy()
    }

    @Test func waitingForWhatNeverEndsTimesOut() throws {
        let downloader = try makeDownloader()
        _ = downloader.submit(try request("a"), receiver: RecordingReceiver())
        #expect(throws: DeliveryFailure.timedOut) { try downloader.waitUntilIdle(milliseconds: 1) }
        downloader.destroy()
    }

    @Test func aTransportThatCannotStartLeavesNothingBehind() throws {
        let error = TransportError(.noResources, systemError: EAGAIN, message: "no thread")
        #expect(throws: SystemError(errno: EAGAIN)) {
            try Downloader.make(
                DownloaderConfiguration(), fields: HTTPFields(), transport: FakeTransport(failingToStart: error))
        }
    }

    // MARK: - Driven by the host

    @Test func theDescriptorIsReadableExactlyWhileEventsWait() throws {
        let downloader = try makeDownloader(host: true)
        let descriptor = downloader.eventDescriptor
        #expect(!isReadable(descriptor))
        for name in ["a", "b"] { _ = downloader.submit(try request(name), receiver: RecordingReceiver()) }
        transport.answerAll(with: [1])
        #expect(isReadable(descriptor))
        #expect(try downloader.dispatch(max: 1) == 1)
        #expect(isReadable(descriptor))
        #expect(try downloader.dispatch(max: 0) == 1)
        #expect(!isReadable(descriptor))
        downloader.destroy()
    }

    @Test func dispatchCallsOnTheCallingThread() throws {
        let downloader = try makeDownloader(host: true)
        let receiver = RecordingReceiver()
        _ = downloader.submit(try request("a"), receiver: receiver)
        transport.answerAll(with: [1])
        #expect(receiver.record.results.isEmpty)
        #expect(try downloader.dispatch(max: 0) == 1)
        #expect(receiver.record.thread == .current)
        downloader.destroy()
    }

    @Test func drainedEventsAreLetGoAtTheNextCall() throws {
        let downloader = try makeDownloader(host: true)
        let receiver = RecordingReceiver()
        _ = downloader.submit(try request("a"), receiver: receiver)
        transport.answerAll(with: [1])
        var taken = 0
        #expect(try downloader.drain(max: 10) { _ in taken += 1 } == 1)
        #expect(taken == 1)
        #expect(receiver.record.results.isEmpty)
        #expect(receiver.record.releases == 0)
        #expect(try downloader.drain(max: 10) { _ in } == 0)
        #expect(receiver.record.releases == 1)
        downloader.destroy()
        #expect(receiver.record.releases == 1)
    }

    @Test func destroyInTheHostsModeDeliversOnTheCallingThread() throws {
        let downloader = try makeDownloader(host: true)
        let receivers = (0..<3).map { _ in RecordingReceiver() }
        for (number, receiver) in receivers.enumerated() {
            _ = downloader.submit(try request("\(number)"), receiver: receiver)
        }
        downloader.destroy()
        #expect(receivers.allSatisfy { $0.record.thread == .current && $0.record.releases == 1 })
        #expect(transport.isEnded)
    }

    @Test func destroyInsideADispatchedCallbackEndsAfterIt() throws {
        let downloader = try makeDownloader(host: true)
        let other = RecordingReceiver()
        let receiver = RecordingReceiver(onCompleted: { _ in downloader.destroy() })
        _ = downloader.submit(try request("a"), receiver: receiver)
        _ = downloader.submit(try request("b"), receiver: other)
        if case .start(let id, _)? = transport.turn().first { transport.answer(id, with: [1]) }
        #expect(try downloader.dispatch(max: 1) == 1)
        #expect(other.record.results.map(\.error?.code) == [.cancelled])
        #expect(transport.isEnded)
    }

    @Test func onlyOneThreadTakesEventsAtATime() throws {
        let downloader = try makeDownloader(host: true)
        let outcome = Monitor<DeliveryFailure?>(nil)
        let receiver = RecordingReceiver(onCompleted: { _ in
            let other = try? NativeThread(name: "other") {
                do throws(DeliveryFailure) { _ = try downloader.dispatch(max: 0) } catch {
                    outcome.withLock { $0 = error }
                }
            }
            other?.join()
        })
        _ = downloader.submit(try request("a"), receiver: receiver)
        transport.answerAll(with: [1])
        _ = try downloader.dispatch(max: 0)
        #expect(outcome.withLock { $0 } == .busy)
        downloader.destroy()
    }

    @Test func progressMergesWhileItWaitsButKeepsStartResponseAndEnd() throws {
        let downloader = try makeDownloader(host: true)
        let receiver = RecordingReceiver()
        _ = downloader.submit(try request("a", wantsProgress: true), receiver: receiver)
        guard case .start(let id, _)? = transport.turn().first else {
            Issue.record("nothing was started")
            return
        }
        transport.report([.response(id, ResponseHead(status: 200, expectedBytes: 9)), .received(id, 1)])
        for count in 2...8 { transport.report([.received(id, Int64(count))]) }
        transport.finish(id, with: Array(repeating: 0, count: 9))
        #expect(try downloader.dispatch(max: 0) == 4)
        #expect(receiver.record.progress == [[0, -1], [0, 9], [9, 9]])
        downloader.destroy()
    }

    @Test func cancelDropsTheProgressThatWaits() throws {
        let downloader = try makeDownloader(host: true)
        let receiver = RecordingReceiver()
        let token = try #require(downloader.submit(try request("a", wantsProgress: true), receiver: receiver))
        guard case .start(let id, _)? = transport.turn().first else {
            Issue.record("nothing was started")
            return
        }
        transport.report([.received(id, 1)])
        #expect(downloader.cancel(token))
        while try downloader.dispatch(max: 0) > 0 {}
        #expect(receiver.record.progress.isEmpty)
        #expect(receiver.record.results.map(\.error?.code) == [.cancelled])
        downloader.destroy()
    }
}
