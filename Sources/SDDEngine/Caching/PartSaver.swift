import SDDBase
import SDDCaches
import SDDTransport

/// Keeps a body as it comes, so that it can be gone on with if it breaks off. Any thread; the writing is done on disk
/// threads, one piece at a time.
final class PartSaver: Sendable {
    private struct State {
        var latest: Bytes?
        /// Somebody writes, or is about to.
        var isQueued = false
        /// Of the body, on disk.
        var saved: Int
        var writer: PartWriter?
        /// To be done.
        var end: End?
        /// Nothing counts any more: what was decided before may be told later, by another thread.
        var hasEnded = false
        /// To be called when there is nothing more to do.
        var waiting: (@Sendable () -> Void)?
    }

    private enum End { case complete, broken }

    private let disk: DiskCache
    private let counters: CacheCounters
    private let key: String
    private let response: StoredResponse
    /// What the transfer goes on with.
    private let part: StoredPart?
    private let state: Monitor<State>

    init(
        _ disk: DiskCache, _ counters: CacheCounters, key: String, response: StoredResponse,
        goingOnWith part: StoredPart?
    ) {
        self.disk = disk
        self.counters = counters
        self.key = key
        self.response = response
        self.part = part
        state = Monitor(State(saved: part?.body.count ?? 0))
    }

    /// - Parameter bytes: all of the body so far.
    func save(_ bytes: Bytes) { change { $0.latest = bytes } }

    func end(isComplete: Bool) {
        change { state in
            state.end = isComplete ? .complete : .broken
            state.hasEnded = true
        }
    }

    /// Once it has ended: what is kept can be found from then on.
    /// - Parameter then: called once, perhaps at once. There is no more than one.
    func whenDone(_ then: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.waiting = then
            return Self.takeWaiting(&state)
        }?()
    }

    private func change(_ change: (inout State) -> Void) {
        let mustQueue = state.withLock { state in
            if state.hasEnded { return false }
            change(&state)
            defer { state.isQueued = true }
            return !state.isQueued
        }
        if mustQueue { disk.read { [self] in work() } }
    }

    /// Thread: sdd-disk, one at a time.
    private func work() {
        while let (bytes, saved, writer, end) = next() {
            let writer = writer ?? (bytes == nil ? nil : makeWriter())
            if let bytes, bytes.count > saved {
                unsafe append(unsafe .init(rebasing: bytes.pointer[saved...]), to: writer)
            }
            switch end {
            case .complete?: discard(writer)
            case .broken?: writer?.close()
            case nil: break
            }
            state.withLock { state in
                state.writer = writer
                if let bytes { state.saved = max(saved, bytes.count) }
            }
        }
        state.withLock { Self.takeWaiting(&$0) }?()
    }

    /// nil as long as there is, or may be, more to do.
    private static func takeWaiting(_ state: inout State) -> (@Sendable () -> Void)? {
        guard state.hasEnded, !state.isQueued else { return nil }
        defer { state.waiting = nil }
        return state.waiting
    }

    private func next() -> (Bytes?, Int, PartWriter?, End?)? {
        state.withLock { state in
            guard state.latest != nil || state.end != nil else {
                state.isQueued = false
                return nil
            }
            defer { (state.latest, state.end) = (nil, nil) }
            return (state.latest, state.saved, state.writer, state.end)
        }
    }

    private func makeWriter() -> PartWriter? {
        let most = disk.store.limits.maxPartBytes
        do throws(CacheError) {
            if let part { return try disk.store.parts.resume(part, mostBytes: most) }
            return try disk.store.parts.begin(key, validator: response.encoded(), mostBytes: most)
        } catch {
            counters.failed(error)
            return nil
        }
    }

    private func discard(_ writer: PartWriter?) {
        do throws(CacheError) {
            if let writer { try writer.discard() } else { try disk.store.parts.remove(key) }
        } catch {
            counters.failed(error)
        }
    }

    /// Without it the next download is longer, and that is all.
    private func append(_ bytes: UnsafeRawBufferPointer, to writer: PartWriter?) {
        do throws(CacheError) {
            unsafe try writer?.append(bytes)
        } catch {
            counters.failed(error)
        }
    }
}

// MARK: - What there is

/// What was kept of a body that had broken off.
struct KeptPart: Sendable {
    let part: StoredPart
    let point: ResumePoint

    /// nil if there is nothing that would be of use. Thread: one that may wait for the disk.
    init?(for inquiry: HTTPInquiry, by disk: DiskCache) {
        guard let part = (try? disk.store.parts.open(inquiry.key)) ?? nil, part.body.count > 0,
            let response = unsafe part.validator.withUnsafeBytes({ unsafe StoredResponse(decoding: $0) }),
            CacheRules.selects(response, inquiry.request),
            let validator = Response(status: response.status, fields: response.fields).resumeValidator
        else { return nil }
        self.part = part
        point = ResumePoint(
            bytes: part.body, validator: validator, url: response.url,
            total: response.fields["Content-Length"].flatMap { Int64($0) }, fields: response.fields)
    }
}

extension HTTPExchange {
    func countResumed(_ bytes: Int64) {
        guard bytes > 0 else { return }
        inquiry.cache.counters.add(.resumedDownloads, 1)
        inquiry.cache.counters.add(.resumedBytes, bytes)
    }

    var resumes: Bool { inquiry.wishes.contains(.resumes) }

    /// Who keeps this response's body; nil if it could not be gone on with, or must not be kept (RFC 9111 §5.2.2.5).
    func saver(for head: ResponseHead) -> PartSaver? {
        guard head.response.resumeValidator != nil, !head.response.isOfUnknownCaller,
            CacheRules.stores(
                inquiry.request, status: head.response.status, fields: head.response.fields, isComplete: true),
            let response = CacheRules.makeStored(
                inquiry.request, status: head.response.status, url: head.response.url, fields: head.response.fields,
                requestTime: 0, responseTime: 0, family: 0)
        else { return nil }
        return PartSaver(
            disk, inquiry.cache.counters, key: inquiry.key, response: response,
            goingOnWith: head.resumedBytes > 0 ? part?.part : nil)
    }
}
