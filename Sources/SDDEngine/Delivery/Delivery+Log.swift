import SDDBase
import SDDTransport
import Synchronization

/// Log messages of the library about the application's callbacks, and about caches.
extension Delivery {
    var hasLogObserver: Bool { state.withLock { $0.logObserver != nil } }

    /// Microseconds after which a callback is reported as slow.
    static var longestCall: Int64 { 1_000_000 }

    /// Queues a message for the application's log listener. Without a listener, writes it to standard error if the
    /// environment asks for that. Callable from any thread, with no lock held.
    func say(_ level: LogLevel, _ text: String, token: UInt64, at now: Int64) {
        guard level <= logs.level else { return }
        let notice = Notice(.log, transfer: 0, token: token, url: nil, time: now, level: level, message: text)
        post(.notice(notice, to: nil))
    }

    /// Calls the application, and logs a warning, once per downloader, if the call takes long.
    func perform(_ event: Event) {
        guard logs.level >= .warning, !hasToldSlow.load(ordering: .relaxed) else { return call(event) }
        let begin = time.monotonicMicroseconds()
        call(event)
        let now = time.monotonicMicroseconds()
        guard now - begin >= Self.longestCall, !isForked, !hasToldSlow.exchange(true, ordering: .relaxed) else {
            return
        }
        let (kind, token) = event.described
        let seconds = "\((now - begin) / 1_000_000).\((now - begin) / 100_000 % 10)"
        say(
            .warning,
            "A callback (\(kind)) kept its thread for \(seconds) s: all others of this downloader wait meanwhile. Work "
                + "that takes long belongs on a thread of the application. This is told once.", token: token, at: now)
    }

    /// The number of requests whose terminal event has not begun to be delivered. An event being delivered does not
    /// count, because the application may rightly exit inside the last one.
    var owed: Int {
        outstanding.load(ordering: .relaxed) - ending.load(ordering: .relaxed)
    }
}

extension DeliveryEvent<Listener> {
    /// The name of the callback that receives the event, and the token of its request.
    fileprivate var described: (kind: String, token: UInt64) {
        switch self {
        case .progress(let listener, _, _): ("progress", listener.token)
        case .facts(let listener, _): ("facts", listener.token)
        case .preview(let listener, _): ("preview", listener.token)
        case .cached(let listener, _): ("cached", listener.token)
        case .end(let listener, _): ("completed", listener.token)
        case .notice(let notice, _): ("observer", notice.token)
        case .prefetch(let listener, _): ("prefetch", listener.token)
        }
    }
}
