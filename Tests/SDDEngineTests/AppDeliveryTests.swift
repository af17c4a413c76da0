import Glibc
import SDDBase
import SDDCoders
import SDDTransport
import Synchronization
import TestSupport
import Testing

@testable import SDDEngine

/// A downloader whose events the application takes, on threads of its own.
@Suite struct AppDeliveryTests {
    private let transport = FakeTransport()

    private func isReadable(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    @Test func theDescriptorIsReadableExactlyWhileEventsWait() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        let descriptor = downloader.eventDescriptor
        #expect(!isReadable(descriptor))
        for name in ["a", "b"] { try downloader.submit(name, callbacks: RecordingCallbacks()) }
        transport.answerAll(with: [1])
        #expect(isReadable(descriptor))
        #expect(try downloader.dispatch(max: 1) == 1)
        #expect(isReadable(descriptor))
        #expect(try downloader.dispatch(max: 0) == 1)
        #expect(!isReadable(descriptor))
        downloader.destroy()
    }

    @Test func dispatchCallsOnTheCallingThread() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        let callbacks = RecordingCallbacks()
        try downloader.submit("a", callbacks: callbacks)
        transport.answerAll(with: [1])
        #expect(callbacks.record.results.isEmpty)
        #expect(try downloader.dispatch(max: 0) == 1)
        #expect(callbacks.record.thread == .current)
        downloader.destroy()
    }

    /// Memory reserved for an image until that is delivered.
    private final class Reserved: MemoryReserved {
        private let left = Atomic(100)
        var bytes: Int { left.load(ordering: .relaxed) }
        func shrink(to bytes: Int) { left.store(bytes, ordering: .relaxed) }
        func settle() {}
        func decoded(keeping bytes: Int) {}
    }

    @Test("the memory of a load's cached image is given back when it is delivered", arguments: [false, true])
    func memoryOfACachedImageIsGivenBack(isDrained: Bool) throws {
        // given
        let delivery = Delivery(bell: try EventBell()) { _ in }
        let listener = Listener(token: 1, callbacks: RecordingCallbacks())
        let reserved = Reserved()
        let result = DownloadResult(image: Made.image(), reserved: reserved, ended: 0)
        delivery.post(.cached(listener, result), to: listener)
        #expect(reserved.bytes == 100)
        // when
        let count =
            isDrained
            ? try delivery.drain(max: 9, take: { _ in nil }, atEnd: {}) : try delivery.dispatch(max: 9, atEnd: {})
        // then
        #expect(count == 1 && reserved.bytes == 0)
    }

    @Test("D21: no event is delivered inside the submitting call")
    func noEventIsDeliveredInsideTheSubmittingCall() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        let callbacks = RecordingCallbacks()
        _ = downloader.submit(.failure(DownloadError(.invalidURL, .urlNull, "no")), callbacks: callbacks)
        downloader.close(cancels: false)
        try downloader.submit("late", callbacks: callbacks)
        #expect(callbacks.record.results.isEmpty)
        transport.turn()
        #expect(callbacks.record.results.isEmpty)
        #expect(try downloader.dispatch(max: 0) == 2)
        #expect(callbacks.record.results.map(\.error?.detail) == [.urlNull, .closed])
        downloader.destroy()
    }

    @Test func drainedEventsAndTheirDataAreFreedAtTheNextCall() throws {
        final class Lent: Sendable {
            let end: TestSupport.Expectation
            init(_ end: TestSupport.Expectation) { self.end = end }
            deinit { end.fulfil() }
        }
        let downloader = try transport.makeDownloader(isAppDriven: true)
        let callbacks = RecordingCallbacks()
        let isLetGo = Expectation()
        try downloader.submit("a", callbacks: callbacks)
        transport.answerAll(with: [1])
        var taken = 0
        let count = try downloader.drain(max: 10) { _ in
            taken += 1
            return Lent(isLetGo)
        }
        #expect(count == 1 && taken == 1)
        #expect(callbacks.record.results.isEmpty && callbacks.record.releases == 0)
        #expect(!isLetGo.isFulfilled)
        #expect(try downloader.drain(max: 10) { _ in nil } == 0)
        #expect(callbacks.record.releases == 1 && isLetGo.isFulfilled)
        downloader.destroy()
        #expect(callbacks.record.releases == 1)
    }

    @Test func destroyInAppModeDeliversOnTheCallingThread() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        let recorders = (0..<3).map { _ in RecordingCallbacks() }
        for (number, callbacks) in recorders.enumerated() { try downloader.submit("\(number)", callbacks: callbacks) }
        downloader.destroy()
        #expect(recorders.allSatisfy { $0.record.thread == .current && $0.record.releases == 1 })
        #expect(transport.isEnded)
    }

    @Test func destroyInsideADispatchedCallbackEndsAfterIt() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        let other = RecordingCallbacks()
        try downloader.submit("a", callbacks: RecordingCallbacks(onCompleted: { _ in downloader.destroy() }))
        try downloader.submit("b", callbacks: other)
        transport.answer(try #require(transport.started().first), with: [1])
        #expect(try downloader.dispatch(max: 1) == 1)
        #expect(other.record.results.map(\.error?.code) == [.cancelled])
        #expect(transport.isEnded)
    }

    @Test func onlyOneThreadTakesEventsAtATime() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        let outcome = Monitor<DeliveryFailure?>(nil)
        let callbacks = RecordingCallbacks(onCompleted: { _ in
            let other = try? NativeThread(name: "other") {
                do throws(DeliveryFailure) { _ = try downloader.dispatch(max: 0) } catch {
                    outcome.withLock { $0 = error }
                }
            }
            other?.join()
        })
        try downloader.submit("a", callbacks: callbacks)
        transport.answerAll(with: [1])
        _ = try downloader.dispatch(max: 0)
        #expect(outcome.withLock { $0 } == .busy)
        downloader.destroy()
    }

    @Test func progressMergesWhileItWaitsButKeepsStartResponseAndEnd() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        let callbacks = RecordingCallbacks()
        try downloader.submit("a", callbacks: callbacks) { $0.wantsProgress = true }
        let id = try #require(transport.started().first)
        transport.respond(id, expected: 9)
        for count in 1...8 { transport.report([.received(id, Int64(count))]) }
        transport.finish(id, with: Array(repeating: 0, count: 9))
        #expect(try downloader.dispatch(max: 0) == 4)
        #expect(callbacks.record.progress == [[0, -1], [0, 9], [9, 9]])
        downloader.destroy()
    }

    @Test func cancelDropsWaitingProgress() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        let callbacks = RecordingCallbacks()
        let token = try #require(try downloader.submit("a", callbacks: callbacks) { $0.wantsProgress = true })
        transport.report([.received(try #require(transport.started().first), 1)])
        #expect(downloader.cancel(token) != nil)
        while try downloader.dispatch(max: 0) > 0 {}
        #expect(callbacks.record.progress.isEmpty)
        #expect(callbacks.record.results.map(\.error?.code) == [.cancelled])
        downloader.destroy()
    }

    @Test func callsOfTheOtherModeAreRefused() throws {
        let downloader = try transport.makeDownloader()
        #expect(!downloader.isAppDriven && downloader.eventDescriptor == -1)
        #expect(throws: DeliveryFailure.wrongMode) { try downloader.dispatch(max: 0) }
        #expect(throws: DeliveryFailure.wrongMode) { try downloader.drain(max: 1) { _ in nil } }
        #expect(throws: DeliveryFailure.wrongMode) { try downloader.waitForEvent(milliseconds: 0) }
        downloader.destroy()
    }
}
