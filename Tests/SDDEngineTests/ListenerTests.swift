import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// The listeners of a downloader. Notices are delivered in order with the other events, in both modes.
@Suite struct ListenerTests {
    private final class Listener: Observer {
        let heard = Recorder<Notice>()
        let threads = Recorder<ThreadIdentity>()

        func noticed(_ notice: Notice) {
            threads.record(.current)
            heard.record(notice)
        }

        var kinds: [Notice.Kind] { heard.all.map(\.kind) }
    }

    private let transport = FakeTransport()
    private let listener = Listener()

    @Test("N1 N2 N3 N4: on the callback thread, before the end that they belong to")
    func notifiesOnTheCallbackThread() throws {
        let downloader = try transport.makeDownloader()
        downloader.setObserver(listener)
        let heardBefore = Recorder<Int>()
        let callbacks = RecordingCallbacks(onCompleted: { [listener] _ in heardBefore.record(listener.kinds.count) })
        try downloader.submit("a", callbacks: callbacks)
        transport.answerAll(with: [1])
        #expect(callbacks.waitUntilReleased())
        #expect(listener.kinds == [.start, .response, .finish, .stop])
        #expect(heardBefore.all == [4])
        #expect(listener.threads.all.allSatisfy { $0 == callbacks.record.thread })
        downloader.destroy()
    }

    @Test("N1 N2 N3 N4: in the application's mode notices are events, in one order with the others")
    func notifiesTheApplicationInOrder() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        downloader.setObserver(listener)
        try downloader.submit("a", callbacks: RecordingCallbacks()) { $0.wantsProgress = true }
        transport.answerAll(with: [1])
        var order: [String] = []
        _ = try downloader.drain(max: 100) { event in
            switch event {
            case .notice(let notice, let observer):
                #expect(observer === listener)
                order.append("\(notice.kind)")
            case .progress(_, let received, let expected): order.append("\(received) of \(expected)")
            case .facts, .preview, .cached, .prefetch: order.append("picture")
            case .end: order.append("end")
            }
            return nil
        }
        #expect(order == ["start", "0 of -1", "response", "0 of 1", "finish", "stop", "1 of 1", "end"])
        #expect(listener.kinds.isEmpty)
        downloader.destroy()
    }

    @Test func dispatchCallsTheListener() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        downloader.setObserver(listener)
        try downloader.submit("a", callbacks: RecordingCallbacks())
        transport.turn()
        #expect(try downloader.dispatch(max: 0) == 1)
        #expect(listener.kinds == [.start] && listener.threads.all == [.current])
        downloader.destroy()
        #expect(listener.kinds == [.start, .stop])
        #expect(listener.heard.all.last?.error?.code == .cancelled)
    }

    @Test("N5: there is no listener at first; a listener that is removed does not get queued notices")
    func removingAListenerDropsQueuedNotices() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        try downloader.submit("before", callbacks: RecordingCallbacks())
        downloader.setObserver(listener)
        try downloader.submit("a", callbacks: RecordingCallbacks())
        downloader.setObserver(nil)
        transport.answerAll(with: [1])
        #expect(try downloader.dispatch(max: 0) == 2)
        #expect(listener.kinds.isEmpty)
        downloader.destroy()
        #expect(listener.kinds.isEmpty)
    }

    @Test func aNewListenerDoesNotGetNoticesQueuedForTheOld() throws {
        let other = Listener()
        let downloader = try transport.makeDownloader(isAppDriven: true)
        downloader.setObserver(other)
        try downloader.submit("a", callbacks: RecordingCallbacks())
        let started = transport.started()
        downloader.setObserver(listener)
        for id in started { transport.answer(id, with: [1]) }
        while try downloader.dispatch(max: 0) > 0 {}
        #expect(other.kinds.isEmpty)
        #expect(listener.kinds == [.response, .finish, .stop])
        downloader.destroy()
    }

    // MARK: - Messages

    private func say(_ level: LogLevel, _ text: String) { transport.report([.message(TransferID(1), level, text)]) }

    @Test("messages up to a level go to their listener", arguments: [false, true])
    func messagesGoToTheirListener(isAppDriven: Bool) throws {
        let downloader = try transport.makeDownloader(isAppDriven: isAppDriven)
        let logs = downloader.configuration.transport.logs
        #expect(logs() == .none)
        downloader.setLog(.warning, listener)
        #expect(logs() == .warning)
        for level in [LogLevel.error, .info, .warning, .debug] { say(level, "\(level)") }
        if isAppDriven { #expect(try downloader.dispatch(max: 0) == 2) }
        #expect(listener.heard.wait(count: 2)?.map(\.message) == ["error", "warning"])
        downloader.destroy()
        #expect(listener.heard.all.count == 2)
    }

    @Test func messagesAndTransfersHaveListenersOfTheirOwn() throws {
        let observer = Listener()
        let downloader = try transport.makeDownloader(isAppDriven: true)
        downloader.setLog(.debug, listener)
        downloader.setObserver(observer)
        try downloader.submit("a", callbacks: RecordingCallbacks())
        say(.info, "a")
        _ = try downloader.dispatch(max: 0)
        #expect(listener.kinds == [.log] && observer.kinds == [.start])
        // One listener may have both roles.
        downloader.setObserver(listener)
        say(.info, "b")
        transport.answerAll(with: [1])
        _ = try downloader.dispatch(max: 0)
        #expect(listener.kinds == [.log, .log, .response, .finish, .stop])
        downloader.destroy()
    }

    @Test("without a listener or a level no message is delivered", arguments: [false, true])
    func withoutAListenerOrALevelNoMessageIsDelivered(byLevel: Bool) throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        downloader.setLog(.debug, listener)
        say(.error, "waits")
        downloader.setLog(byLevel ? .none : .debug, byLevel ? listener : nil)
        say(.error, "later")
        #expect(downloader.configuration.transport.logs() == .none)
        _ = try downloader.dispatch(max: 0)
        // Without a level no more messages are made; those made before still go to the listener.
        #expect(listener.heard.all.map(\.message) == (byLevel ? ["waits"] : []))
        downloader.destroy()
    }
}
