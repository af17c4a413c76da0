package import SDDBase
import SDDCoders
package import SDDTransport

/// A downloader: keeps the `DownloadTable` under its lock and runs what the table decides against the
/// transport, the decoders and the delivery, after giving the lock back. Any thread.
package final class Downloader: Sendable {
    package typealias Failure = DeliveryFailure
    private typealias Effect = DownloadTable<Subscriber>.Effect

    private let table: Monitor<DownloadTable<Subscriber>>
    private let fields: Monitor<HTTPFields>
    private let transport: any Transport
    private let delivery: Delivery
    private let decoders: Monitor<DecodePool?>
    private let time = SystemTime()
    package let configuration: DownloaderConfiguration

    private init(
        _ configuration: DownloaderConfiguration, fields: HTTPFields, transport: any Transport, bell: EventBell?
    ) {
        self.configuration = configuration
        self.transport = transport
        self.fields = Monitor(fields)
        table = Monitor(DownloadTable(maxConcurrent: configuration.maxConcurrentDownloads))
        delivery = Delivery(bell: bell) { isBusy in
            if isBusy { PixelMemory.beginUse() } else { PixelMemory.endUse() }
        }
        decoders = Monitor(nil)
    }

    /// Makes a downloader and starts its threads; all of them or, with an error, none.
    package static func make(
        _ configuration: DownloaderConfiguration, fields: HTTPFields, transport: any Transport
    ) throws(SystemError) -> Downloader {
        let bell: EventBell?
        if case .host = configuration.delivery { bell = try EventBell() } else { bell = nil }
        let downloader = Downloader(configuration, fields: fields, transport: transport, bell: bell)
        try downloader.startThreads()
        return downloader
    }

    private func startThreads() throws(SystemError) {
        let pool = try makeDecodePool()
        decoders.withLock { $0 = pool }
        do throws(TransportError) {
            try transport.start(delegate: self)
        } catch {
            endDecoders()
            throw SystemError(errno: error.systemError)
        }
        guard case .thread(let start, let stop) = configuration.delivery else { return }
        do throws(SystemError) {
            try delivery.startThread(hooks: .init(start: start, stop: stop)) { [self] in joinThreads() }
        } catch {
            transport.stop()
            joinThreads()
            throw error
        }
    }

    private func makeDecodePool() throws(SystemError) -> DecodePool {
        let client = DecodePool.Client(
            begins: { [unowned self] id in
                change { table, _, effects in table.decodeBegins(id, &effects) }
            },
            decoded: { [unowned self] id, outcome in
                change { table, now, effects in table.decoded(id, outcome, at: now, &effects) }
            })
        return try DecodePool(
            threads: configuration.decodeThreads, registry: .builtIn,
            options: DecodeOptions(maxPixels: configuration.maxPixels), client: client)
    }
}

// MARK: - Requests

extension Downloader {
    /// Accepts a request; its receiver will hear of its end once.
    /// - Parameter request: why it cannot be, if it cannot: that arrives as its end, too.
    /// - Returns: its token, or nil when the downloader is being destroyed: then nobody will hear anything.
    package func submit(
        _ request: Result<DownloadRequest, DownloadError>, receiver: any Receiver
    ) -> UInt64? {
        let subscriber = Subscriber(token: Subscriber.nextToken(), receiver: receiver)
        let isAccepted = change { table, now, effects in
            guard !table.isClosed else { return false }
            delivery.accepted()
            switch request {
            case .success(let request):
                table.submitted(request, token: subscriber.token, subscriber: subscriber, at: now, &effects)
            case .failure(let error):
                effects.append(.end(subscriber, DownloadResult(error: error)))
            }
            return true
        }
        return isAccepted ? subscriber.token : nil
    }

    /// - Returns: false when the request has ended already.
    package func cancel(_ token: UInt64) -> Bool {
        change { table, now, effects in table.cancelled(token, at: now, &effects) }
    }

    package func cancelAll() {
        change { table, now, effects in table.cancelledAll(at: now, &effects) }
    }

    package func setMaxConcurrentDownloads(_ count: Int) {
        change { table, _, effects in table.maxConcurrentChanged(to: count, &effects) }
    }

    /// The header fields that requests submitted from now on begin with.
    package var headerFields: HTTPFields { fields.withLock { $0 } }

    package func setHeader(_ name: String, to value: String?) {
        fields.withLock { $0.set(name, to: value) }
    }

    /// Ends every request, delivers what is owed, ends the threads. Waits for all of that, unless called
    /// inside a callback: then it happens after that callback. Once.
    package func destroy() {
        change { table, now, effects in table.closed(at: now, &effects) }
        transport.stop()
        decoders.withLock { $0?.stop() }
        delivery.finish { joinThreads() }
    }

    /// The process is about to exit: libcurl and OpenSSL, whose own exit handlers free what they share
    /// among threads, must not be at work then. No callback is owed any more. Waits, but not for long.
    package func endNetworkForExit(milliseconds: Int64) {
        transport.stop()
        transport.join(milliseconds: milliseconds)
    }

    /// Once, on a thread that is none of them.
    private func joinThreads() {
        transport.join()
        endDecoders()
    }

    private func endDecoders() {
        let pool = decoders.withLock { pool in
            defer { pool = nil }
            return pool
        }
        pool?.stop()
        pool?.join()
    }
}

// MARK: - Effects

extension Downloader {
    /// Tells the table of an event, then runs what it decided, without the lock.
    private func change<Outcome>(
        _ event: (inout DownloadTable<Subscriber>, Int64, inout [Effect]) -> Outcome
    ) -> Outcome {
        let now = time.monotonicMicroseconds()
        var effects: [Effect] = []
        let outcome = table.withLock { event(&$0, now, &effects) }
        run(effects)
        return outcome
    }

    private func run(_ effects: [Effect]) {
        // The host's part first: once a decode thread has its job, the end may be queued at any moment, and no
        // progress may come behind it.
        let isForHost = effects.contains {
            if case .progress = $0 { true } else if case .end = $0 { true } else { false }
        }
        if isForHost { delivery.enqueue(effects) }
        var wakes = false
        for effect in effects {
            switch effect {
            case .wakeTransport: wakes = true
            case .decode(let id, let bytes, let priority):
                let pool = decoders.withLock { $0 }
                pool?.submit(DecodePool.Job(id: id, bytes: bytes), priority: priority)
            case .progress, .end: break
            }
        }
        if wakes { transport.wake() }
    }
}

// MARK: - The transport's side

/// Thread: sdd-net.
extension Downloader: TransportDelegate {
    package func takeCommands(into commands: inout [TransportCommand]) {
        // A local copy, for the lock's closure cannot capture what the caller lends.
        var taken: [TransportCommand] = []
        change { table, now, effects in table.transportAsks(for: &taken, at: now, &effects) }
        commands += taken
    }

    package func handle(_ events: [TransferEvent]) {
        change { table, now, effects in
            for event in events { table.transportReports(event, at: now, &effects) }
        }
    }
}

// MARK: - Delivery

/// Why a host's thread got no events.
package enum DeliveryFailure: Error {
    case busy, wouldDeadlock, timedOut, closed, wrongMode
}

extension Downloader {
    package var isHostDriven: Bool { delivery.isHostDriven }
    /// -1 when the downloader delivers on a thread of its own.
    package var eventDescriptor: Int32 { delivery.eventDescriptor }

    /// Calls the callbacks of events that wait, at most `max`, 0 meaning all.
    package func dispatch(max: Int) throws(Failure) -> Int {
        guard isHostDriven else { throw .wrongMode }
        return try delivery.dispatch(max: max) { joinThreads() }
    }

    /// Gives events that wait to `take`, and calls nothing else.
    package func drain(max: Int, take: (DeliveredEvent) -> Void) throws(Failure) -> Int {
        guard isHostDriven else { throw .wrongMode }
        return try delivery.drain(max: max, take: take) { joinThreads() }
    }

    package func waitForEvent(milliseconds: Int64) throws(Failure) {
        guard isHostDriven else { throw .wrongMode }
        try delivery.waitForEvent(milliseconds: milliseconds) { joinThreads() }
    }

    package func waitUntilIdle(milliseconds: Int64) throws(Failure) {
        try delivery.waitUntilIdle(milliseconds: milliseconds, time: time) { joinThreads() }
    }
}
