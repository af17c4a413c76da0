import SDDBase
import SDDCoders
import SDDTransport

/// All decisions of a downloader: which requests share a transfer, what runs, what waits, who is told
/// what, and that each handler is told its end exactly once. A state machine: events in, effects out. It
/// knows no thread, clock, socket or callback; `Downloader` keeps it under a lock and runs the effects.
///
/// A job is one transfer with the handlers that wait for it: waiting → running → decoding → gone.
struct DownloadTable<Subscriber> {
    typealias Token = UInt64

    enum Effect {
        /// The transport should pull commands.
        case wakeTransport
        case decode(TransferID, Bytes, Priority)
        case progress(Subscriber, received: Int64, expected: Int64)
        /// The one terminal event of a handler.
        case end(Subscriber, DownloadResult)
    }

    private struct Handler {
        let token: Token
        let subscriber: Subscriber
        let priority: Priority
        let wantsPixels: Bool
        let wantsProgress: Bool
        let submitted: Int64
    }

    private enum Stage {
        case waiting(PriorityBuckets<TransferID>.Place, Priority)
        case running(started: Int64, head: ResponseHead?, received: Int64)
        /// `begun` once a decode thread is at it.
        case decoding(Received, begun: Bool)
    }

    /// What the network has brought, while pixels are being made of it.
    private final class Received {
        let started: Int64
        let finished: Int64
        let bytes: Bytes
        let end: TransferEnd

        init(started: Int64, finished: Int64, bytes: Bytes, end: TransferEnd) {
            self.started = started
            self.finished = finished
            self.bytes = bytes
            self.end = end
        }
    }

    private struct Job {
        let key: CoalescingKey?
        let request: HTTPRequest
        var handlers: [Handler]
        var stage: Stage
    }

    /// Encoded bytes that may wait for a decode thread before no new transfer is started: a network faster
    /// than the decoders must not fill the memory, and a slower one must not leave them without work.
    private static var decodeBacklogLimit: Int { 8 << 20 }

    private var jobs: [TransferID: Job] = [:]
    private var jobOfKey: [CoalescingKey: TransferID] = [:]
    private var jobOfToken: [Token: TransferID] = [:]
    private var waiting = PriorityBuckets<TransferID>()
    private var cancelled: [TransferID] = []
    private var lastJob: UInt64 = 0
    private var running = 0
    private var decodeBacklog = 0
    private(set) var isClosed = false
    private(set) var maxConcurrent: Int

    init(maxConcurrent: Int) {
        self.maxConcurrent = maxConcurrent
    }

    private var canStart: Bool { running < maxConcurrent && decodeBacklog <= Self.decodeBacklogLimit }
}

// MARK: - Events from callers

extension DownloadTable {
    mutating func submitted(
        _ request: DownloadRequest, token: Token, subscriber: Subscriber, at now: Int64, _ effects: inout [Effect]
    ) {
        let handler = Handler(
            token: token, subscriber: subscriber, priority: request.priority, wantsPixels: request.wantsPixels,
            wantsProgress: request.wantsProgress, submitted: now)
        let key = request.coalescingKey
        if let key, let job = jobOfKey[key] {
            joined(job, handler, at: now, &effects)
            return
        }
        lastJob += 1
        let job = TransferID(lastJob)
        let place = waiting.append(job, priority: request.priority)
        jobs[job] = Job(
            key: key, request: request.transfer, handlers: [handler], stage: .waiting(place, request.priority))
        if let key { jobOfKey[key] = job }
        jobOfToken[token] = job
        if canStart { effects.append(.wakeTransport) }
    }

    private mutating func joined(_ id: TransferID, _ handler: Handler, at now: Int64, _ effects: inout [Effect]) {
        guard let stage = jobs[id]?.stage else { return }
        switch stage {
        case .waiting(let place, let priority):
            if handler.priority > priority {
                waiting.remove(place)
                jobs[id]?.stage = .waiting(waiting.append(id, priority: handler.priority), handler.priority)
            }
        case .running(_, let head, let received):
            report(0, of: -1, to: CollectionOfOne(handler), &effects)
            if let head { report(0, of: head.expectedBytes, to: CollectionOfOne(handler), &effects) }
            if received > 0 {
                report(received, of: head?.expectedBytes ?? -1, to: CollectionOfOne(handler), &effects)
            }
        case .decoding(let body, _):
            let size = Int64(body.bytes.count)
            report(0, of: -1, to: CollectionOfOne(handler), &effects)
            report(0, of: size, to: CollectionOfOne(handler), &effects)
            report(size, of: size, to: CollectionOfOne(handler), &effects)
            if !handler.wantsPixels {
                effects.append(.end(handler.subscriber, result(of: body, for: handler, image: nil, at: now)))
                return
            }
        }
        jobs[id]?.handlers.append(handler)
        jobOfToken[handler.token] = id
    }

    private func report(
        _ received: Int64, of expected: Int64, to handlers: some Collection<Handler>, _ effects: inout [Effect]
    ) {
        for handler in handlers where handler.wantsProgress {
            effects.append(.progress(handler.subscriber, received: received, expected: expected))
        }
    }

    /// - Returns: false when the request has ended already, or never was.
    mutating func cancelled(_ token: Token, at now: Int64, _ effects: inout [Effect]) -> Bool {
        guard let id = jobOfToken[token], let job = jobs[id],
            let index = job.handlers.firstIndex(where: { $0.token == token })
        else { return false }
        jobs[id]?.handlers.remove(at: index)
        jobOfToken[token] = nil
        effects.append(cancellation(of: job.handlers[index], in: job.stage, at: now))
        if job.handlers.count == 1 {
            abandon(id, &effects)
        } else if case .waiting(let place, let priority) = job.stage {
            lowered(id, from: priority, at: place)
        }
        return true
    }

    /// A handler has left a waiting job: its priority is that of the most urgent one who stays.
    private mutating func lowered(
        _ id: TransferID, from priority: Priority, at place: PriorityBuckets<TransferID>.Place
    ) {
        guard let handlers = jobs[id]?.handlers, let highest = Self.highestPriority(of: handlers), highest < priority
        else { return }
        waiting.remove(place)
        jobs[id]?.stage = .waiting(waiting.append(id, priority: highest), highest)
    }

    /// nil for none. Written out, for a key path costs more than the rest of an event.
    private static func highestPriority(of handlers: [Handler]) -> Priority? {
        var highest: Priority?
        for handler in handlers where highest.map({ $0 < handler.priority }) ?? true { highest = handler.priority }
        return highest
    }

    private func cancellation(of handler: Handler, in stage: Stage, at now: Int64) -> Effect {
        let detail: DownloadError.Detail
        var status: Int32 = 0
        switch stage {
        case .waiting: detail = .cancelledWaiting
        case .running(_, let head, _):
            detail = .cancelledSending
            status = head?.status ?? 0
        case .decoding(let body, _):
            detail = .cancelledDecoding
            status = body.end.status
        }
        var timings = DownloadTimings()
        timings.total = now - handler.submitted
        return .end(
            handler.subscriber, DownloadResult(error: .cancelled(detail), httpStatus: status, timings: timings))
    }

    mutating func cancelledAll(at now: Int64, _ effects: inout [Effect]) {
        for (id, job) in jobs {
            for handler in job.handlers {
                jobOfToken[handler.token] = nil
                effects.append(cancellation(of: handler, in: job.stage, at: now))
            }
            abandon(id, &effects)
        }
    }

    /// The downloader is being destroyed: everything ends, nothing begins.
    mutating func closed(at now: Int64, _ effects: inout [Effect]) {
        isClosed = true
        cancelledAll(at: now, &effects)
    }

    mutating func maxConcurrentChanged(to count: Int, _ effects: inout [Effect]) {
        maxConcurrent = count
        wakeIfWorkWaits(&effects)
    }

    private mutating func wakeIfWorkWaits(_ effects: inout [Effect]) {
        if canStart, !waiting.isEmpty { effects.append(.wakeTransport) }
    }

    /// Takes a job that nobody waits for out of the table, wherever it stands.
    private mutating func abandon(_ id: TransferID, _ effects: inout [Effect]) {
        guard let job = removed(id) else { return }
        switch job.stage {
        case .waiting(let place, _): waiting.remove(place)
        case .running:
            running -= 1
            cancelled.append(id)
            effects.append(.wakeTransport)
        case .decoding(let body, let begun):
            if !begun { decodeBacklog -= body.bytes.count }
            wakeIfWorkWaits(&effects)
        }
    }

    private mutating func removed(_ id: TransferID) -> Job? {
        guard let job = jobs.removeValue(forKey: id) else { return nil }
        if let key = job.key { jobOfKey[key] = nil }
        return job
    }
}

// MARK: - Events from the transport

extension DownloadTable {
    /// What the transport is to do next: ended transfers first, so that their places are free.
    mutating func transportAsks(for commands: inout [TransportCommand], at now: Int64, _ effects: inout [Effect]) {
        for id in cancelled { commands.append(.cancel(id)) }
        cancelled.removeAll(keepingCapacity: true)
        while canStart, let id = waiting.popFirst() {
            guard let job = jobs[id] else { continue }
            jobs[id]?.stage = .running(started: now, head: nil, received: 0)
            running += 1
            commands.append(.start(id, job.request))
            report(0, of: -1, to: job.handlers, &effects)
        }
    }

    mutating func transportReports(_ event: TransferEvent, at now: Int64, _ effects: inout [Effect]) {
        switch event {
        case .response(let id, let head): responded(id, head, at: now, &effects)
        case .received(let id, let count): received(id, count, &effects)
        case .finished(let id, let end): finished(id, end, at: now, &effects)
        }
    }

    private mutating func responded(_ id: TransferID, _ head: ResponseHead, at now: Int64, _ effects: inout [Effect]) {
        guard let job = jobs[id], case .running(let started, _, let received) = job.stage else { return }
        // A scheme without a status, file:, has 0.
        guard head.status == 0 || (200...299).contains(head.status) else {
            refused(id, status: head.status, started: started, at: now, &effects)
            return
        }
        jobs[id]?.stage = .running(started: started, head: head, received: received)
        report(0, of: head.expectedBytes, to: job.handlers, &effects)
    }

    /// The status is not one that brings a picture: the body is not worth reading.
    private mutating func refused(
        _ id: TransferID, status: Int32, started: Int64, at now: Int64, _ effects: inout [Effect]
    ) {
        guard let job = removed(id) else { return }
        for handler in job.handlers {
            jobOfToken[handler.token] = nil
            var timings = DownloadTimings()
            timings.queue = max(0, started - handler.submitted)
            timings.total = now - handler.submitted
            let result = DownloadResult(error: .status(status), httpStatus: status, timings: timings)
            effects.append(.end(handler.subscriber, result))
        }
        running -= 1
        cancelled.append(id)
        effects.append(.wakeTransport)
    }

    private mutating func received(_ id: TransferID, _ count: Int64, _ effects: inout [Effect]) {
        guard let job = jobs[id], case .running(let started, let head, _) = job.stage else { return }
        jobs[id]?.stage = .running(started: started, head: head, received: count)
        report(count, of: head?.expectedBytes ?? -1, to: job.handlers, &effects)
    }

    private mutating func finished(_ id: TransferID, _ end: TransferEnd, at now: Int64, _ effects: inout [Effect]) {
        guard let job = jobs[id], case .running(let started, _, _) = job.stage else { return }
        running -= 1
        switch end.result {
        case .failure(let error): failed(id, DownloadError(error), end, started: started, at: now, &effects)
        case .success(let bytes):
            let body = Received(started: started, finished: now, bytes: bytes, end: end)
            // The last count of a body that came whole is its size, also where no length was announced.
            let size = Int64(bytes.count)
            if size > 0 { report(size, of: size, to: job.handlers, &effects) }
            arrived(id, body, at: now, &effects)
        }
        wakeIfWorkWaits(&effects)
    }

    private mutating func failed(
        _ id: TransferID, _ error: DownloadError, _ end: TransferEnd, started: Int64, at now: Int64,
        _ effects: inout [Effect]
    ) {
        guard let job = removed(id) else { return }
        for handler in job.handlers {
            jobOfToken[handler.token] = nil
            var timings = DownloadTimings()
            timings.queue = max(0, started - handler.submitted)
            timings.transfer = end.timings
            timings.total = now - handler.submitted
            effects.append(
                .end(handler.subscriber, DownloadResult(error: error, httpStatus: end.status, timings: timings)))
        }
    }

    /// The body is there: who wants bytes has them, who wants pixels waits for the decoder.
    private mutating func arrived(_ id: TransferID, _ body: Received, at now: Int64, _ effects: inout [Effect]) {
        guard let job = jobs[id] else { return }
        for handler in job.handlers where !handler.wantsPixels {
            jobOfToken[handler.token] = nil
            effects.append(.end(handler.subscriber, result(of: body, for: handler, image: nil, at: now)))
        }
        let remaining = job.handlers.filter { $0.wantsPixels }
        guard let priority = Self.highestPriority(of: remaining) else {
            _ = removed(id)
            return
        }
        jobs[id]?.handlers = remaining
        jobs[id]?.stage = .decoding(body, begun: false)
        decodeBacklog += body.bytes.count
        effects.append(.decode(id, body.bytes, priority))
    }
}

// MARK: - Events from the decoders

extension DownloadTable {
    /// A decode thread has come to `id`.
    /// - Returns: whether its pixels are still wanted.
    mutating func decodeBegins(_ id: TransferID, _ effects: inout [Effect]) -> Bool {
        guard let job = jobs[id], case .decoding(let body, begun: false) = job.stage else { return false }
        jobs[id]?.stage = .decoding(body, begun: true)
        decodeBacklog -= body.bytes.count
        wakeIfWorkWaits(&effects)
        return true
    }

    mutating func decoded(
        _ id: TransferID, _ outcome: Result<Image, CoderError>, at now: Int64, _ effects: inout [Effect]
    ) {
        // Cancelled meanwhile: the pixels are dropped.
        guard let job = jobs[id], case .decoding(let body, let begun) = job.stage else { return }
        _ = removed(id)
        if !begun { decodeBacklog -= body.bytes.count }
        for handler in job.handlers {
            jobOfToken[handler.token] = nil
            switch outcome {
            case .success(let image):
                effects.append(.end(handler.subscriber, result(of: body, for: handler, image: image, at: now)))
            case .failure(let error):
                let result = DownloadResult(
                    error: DownloadError(error), httpStatus: body.end.status,
                    timings: timings(of: body, for: handler, at: now))
                effects.append(.end(handler.subscriber, result))
            }
        }
        wakeIfWorkWaits(&effects)
    }

    private func result(of body: Received, for handler: Handler, image: Image?, at now: Int64) -> DownloadResult {
        DownloadResult(
            image: image, bytes: body.bytes, httpStatus: body.end.status,
            timings: timings(of: body, for: handler, at: now))
    }

    private func timings(of body: Received, for handler: Handler, at now: Int64) -> DownloadTimings {
        var timings = DownloadTimings()
        timings.queue = max(0, body.started - handler.submitted)
        timings.transfer = body.end.timings
        timings.decode = handler.wantsPixels ? now - max(body.finished, handler.submitted) : 0
        timings.total = now - handler.submitted
        return timings
    }
}
