import SDDBase
import SDDCaches
import SDDTransport

/// Saves a body while it arrives, so that an interrupted download can be resumed. Thread-safe; writes on disk threads,
/// one piece at a time.
final class PartSaver: Sendable {
    private struct State {
        var latest: Bytes?
        /// A write is running or queued.
        var isQueued = false
        /// Bytes of the body that are on disk.
        var saved: Int
        var writer: PartWriter?
        /// The end that is still to be carried out.
        var end: End?
        /// The end was decided and later calls are ignored: calls decided before it may still arrive from another
        /// thread.
        var hasEnded = false
        /// Called when no work is left.
        var waiting: (@Sendable () -> Void)?
    }

    private enum End { case complete, broken }

    private let disk: DiskCache
    private let counters: CacheCounters
    private let key: String
    private let response: StoredResponse
    /// The part that the transfer resumes.
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

    /// Saves more of the body.
    /// - Parameter bytes: the whole body so far.
    func save(_ bytes: Bytes) { change { $0.latest = bytes } }

    func end(isComplete: Bool) {
        change { state in
            state.end = isComplete ? .complete : .broken
            state.hasEnded = true
        }
    }

    /// Calls `then` once the saver has ended and its writes are done: the kept part can be found from then on.
    /// - Parameter then: called once, perhaps before this returns. Only one can wait.
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

    /// Carries out the queued work, on an sdd-disk thread, one run at a time.
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

    /// Returns the waiting callback; `nil` as long as there is, or may be, more work.
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
            return try disk.store.beginPart(key, validator: response.encoded(), mostBytes: most)
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

    /// Appends to the part's file. A failure only makes the next download longer.
    private func append(_ bytes: UnsafeRawBufferPointer, to writer: PartWriter?) {
        do throws(CacheError) {
            unsafe try writer?.append(bytes)
        } catch {
            counters.failed(error)
        }
    }
}

// MARK: - Kept parts

/// The beginning of a body that is kept: of an interrupted download, or what requests for ranges have brought of it.
struct KeptPart: Sendable {
    /// The part of an interrupted download; `nil` if requests for ranges have brought the bytes.
    let part: StoredPart?
    let point: ResumePoint

    var isOfRanges: Bool { part == nil }

    /// Opens the part kept for a request; `nil` if none is usable. Call on a thread that may wait for the disk.
    init?(for lookup: HTTPCacheLookup, by disk: DiskCache) {
        if let part = Self.interrupted(lookup, disk) {
            self = part
        } else if let part = Self.ofRanges(lookup, disk) {
            self = part
        } else {
            return nil
        }
    }

    private init?(_ part: StoredPart?, _ bytes: Bytes, of response: StoredResponse, total: Int64?) {
        guard let validator = Response(status: response.status, fields: response.fields).resumeValidator else {
            return nil
        }
        self.part = part
        point = ResumePoint(
            bytes: bytes, validator: validator, url: response.url, total: total, fields: response.fields)
    }

    private static func interrupted(_ lookup: HTTPCacheLookup, _ disk: DiskCache) -> KeptPart? {
        guard let part = (try? disk.store.parts.open(lookup.key)) ?? nil, part.body.count > 0,
            let response = unsafe part.validator.withUnsafeBytes({ unsafe StoredResponse(decoding: $0) }),
            CacheRules.selects(response, lookup.request)
        else { return nil }
        let total = response.fields["Content-Length"].flatMap { Int64($0) }
        return KeptPart(part, part.body, of: response, total: total)
    }

    private static func ofRanges(_ lookup: HTTPCacheLookup, _ disk: DiskCache) -> KeptPart? {
        guard lookup.wishes.contains(.http), let (entry, parts) = lookup.storedParts(disk),
            let first = parts.pieces.first, first.lowerBound == 0,
            let bytes = unsafe Bytes(copying: UnsafeRawBufferPointer(rebasing: entry.body.pointer[..<first.count]))
        else { return nil }
        return KeptPart(nil, bytes, of: parts.response, total: parts.total)
    }
}

extension Revalidation {
    func countResumed(_ bytes: Int64) {
        guard bytes > 0 else { return }
        lookup.cache.counters.add(.resumedDownloads, 1)
        lookup.cache.counters.add(.resumedBytes, bytes)
    }

    var resumes: Bool { lookup.wishes.contains(.resumes) }

    /// Returns a saver for this response's body; `nil` if the body could not be resumed, or must not be stored (RFC
    /// 9111 §5.2.2.5).
    func saver(for head: ResponseHead) -> PartSaver? {
        guard head.response.resumeValidator != nil, !head.response.isOfUnknownCaller,
            let fields = head.response.storableFields,
            CacheRules.stores(lookup.request, status: head.response.status, fields: fields, isComplete: true),
            let response = CacheRules.makeStored(
                lookup.request, status: head.response.status, url: head.response.url, fields: fields,
                requestTime: 0, responseTime: 0, family: 0)
        else { return nil }
        return PartSaver(
            disk, lookup.cache.counters, key: lookup.key, response: response,
            goingOnWith: head.resumedBytes > 0 ? part?.part : nil)
    }
}
