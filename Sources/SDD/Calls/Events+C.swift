public import CSDD
internal import Glibc
internal import SDDBase
internal import SDDEngine

@_cdecl("sdd_downloader_event_fd") @implementation
public func sdd_downloader_event_fd(_ downloader: OpaquePointer?) -> Int32 {
    answer(orElse: -1) { () throws(Refusal) in
        let descriptor = try Downloaders.downloader(downloader).eventDescriptor
        guard descriptor >= 0 else { throw refusal(.wrongMode) }
        return descriptor
    }
}

@_cdecl("sdd_downloader_dispatch") @implementation
public func sdd_downloader_dispatch(_ downloader: OpaquePointer?, _ max: Int, _ count: UnsafeMutablePointer<Int>?)
    -> sdd_status
{
    status { () throws(Refusal) in
        let downloader = try Downloaders.downloader(downloader)
        let delivered = try refusing(refusal) { () throws(DeliveryFailure) in try downloader.dispatch(max: clamped(max))
        }
        count?.pointee = delivered
    }
}

@_cdecl("sdd_downloader_drain") @implementation
public func sdd_downloader_drain(
    _ downloader: OpaquePointer?, _ events: UnsafeMutablePointer<sdd_event>?, _ max: Int,
    _ count: UnsafeMutablePointer<Int>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let count else { throw .null("count") }
        let records = try EventRecords(events, capacity: clamped(max))
        let downloader = try Downloaders.downloader(downloader)
        count.pointee = try refusing(refusal) { () throws(DeliveryFailure) in try records.fill(from: downloader) }
    }
}

@_cdecl("sdd_downloader_wait") @implementation
public func sdd_downloader_wait(
    _ downloader: OpaquePointer?, _ events: UnsafeMutablePointer<sdd_event>?, _ max: Int, _ milliseconds: Int64,
    _ count: UnsafeMutablePointer<Int>?
) -> sdd_status {
    status { () throws(Refusal) in
        let records = events == nil ? nil : try EventRecords(events, capacity: clamped(max))
        guard records == nil || count != nil else {
            throw Refusal(SDD_ERROR_INVALID_ARGUMENT, "count", "NULL is allowed with events NULL alone")
        }
        let downloader = try Downloaders.downloader(downloader)
        let delivered = try refusing(refusal) { () throws(DeliveryFailure) in
            try waitForEvents(downloader, milliseconds: milliseconds) { () throws(DeliveryFailure) in
                guard let records else { return try downloader.dispatch(max: clamped(max)) }
                return try records.fill(from: downloader)
            }
        }
        count?.pointee = delivered
    }
}

@_cdecl("sdd_downloader_idle_wait") @implementation
public func sdd_downloader_idle_wait(_ downloader: OpaquePointer?, _ milliseconds: Int64) -> sdd_status {
    status { () throws(Refusal) in
        let downloader = try Downloaders.downloader(downloader)
        try refusing(refusal) { () throws(DeliveryFailure) in try downloader.waitUntilIdle(milliseconds: milliseconds) }
    }
}

/// Repeats waiting and taking until at least one event was taken. A wait may end for a progress event that is cancelled
/// before it can be taken.
private func waitForEvents(
    _ downloader: Downloader, milliseconds: Int64, take: () throws(DeliveryFailure) -> Int
) throws(DeliveryFailure) -> Int {
    let time = SystemTime()
    let start = time.monotonicMicroseconds() / 1000
    while true {
        let passed = time.monotonicMicroseconds() / 1000 - start
        try downloader.waitForEvent(milliseconds: milliseconds < 0 ? -1 : max(0, milliseconds - passed))
        let count = try take()
        if count > 0 { return count }
    }
}

private func refusal(_ failure: DeliveryFailure) -> Refusal {
    switch failure {
    case .busy: Refusal(SDD_ERROR_BUSY, "downloader", "another thread is taking its events")
    case .wouldDeadlock:
        Refusal(
            SDD_ERROR_WOULD_DEADLOCK, "downloader", "one of its own threads, or a callback of it, cannot wait for it")
    case .timedOut: .timeIsOver("nothing has come")
    case .closed: Refusal(SDD_ERROR_CLOSED, "downloader", "another thread has destroyed it meanwhile")
    case .wrongMode:
        Refusal(
            SDD_ERROR_WRONG_DELIVERY, "downloader",
            "its events are delivered by a thread: sdd_downloader_config.delivery is not SDD_DELIVERY_APPLICATION")
    }
}

/// The caller's array of event records.
private struct EventRecords {
    private let records: Records<sdd_event>

    /// Bytes of a record through `result`.
    private static let throughResult =
        (MemoryLayout<sdd_event>.offset(of: \sdd_event.result) ?? 0) + MemoryLayout<UnsafePointer<sdd_result>?>.size

    init(_ events: UnsafeMutablePointer<sdd_event>?, capacity: Int) throws(Refusal) {
        records = try Records(events, "events", capacity: capacity, minimum: Self.throughResult)
    }

    func fill(from downloader: Downloader) throws(DeliveryFailure) -> Int {
        var index = 0
        return try downloader.drain(max: records.capacity) { event in
            let (made, lent) = made(of: event)
            records.write(made, at: index)
            index += 1
            return lent
        }
    }

    /// Returns a record, and the object that it points into, unless something else keeps that alive.
    private func made(of event: DeliveryEvent<Listener>) -> (sdd_event, AnyObject?) {
        var made = sdd_event()
        switch event {
        case .progress(let listener, let received, let expected):
            made = record(SDD_EVENT_PROGRESS, of: listener)
            made.received_bytes = received
            made.expected_bytes = expected
        case .facts(let listener, let facts):
            let lent = Lent(sdd_image_info(facts))
            made = record(SDD_EVENT_FACTS, of: listener)
            made.info = lent.pointer
            return (made, lent)
        case .preview(let listener, let result): return interim(result, SDD_EVENT_PREVIEW, of: listener)
        case .cached(let listener, let result): return interim(result, SDD_EVENT_CACHED, of: listener)
        case .end(let listener, let result):
            made = record(SDD_EVENT_COMPLETED, of: listener)
            made.result = callbacks(of: listener).lend(result, token: listener.token)
        case .notice(let notice, let observer):
            guard let observer else { break }
            // Safety: `Observer+C` of this target is the only one that makes observers.
            let listener = unsafeDowncast(observer, to: AppObserver.self)
            let lent = LentNotice(notice, for: listener)
            made.kind = notice.kind.rawValue
            made.token = notice.token
            made.user_data = listener.userData
            made.notice = lent.pointer
            return (made, lent)
        case .prefetch(let listener, let event):
            // Safety: `Prefetch+C` of this target is the only one that makes receivers of lists.
            return unsafeDowncast(listener.callbacks, to: PrefetchCallbacks.self).record(event, token: listener.token)
        }
        return (made, nil)
    }

    private func record(_ kind: Int, of listener: Listener) -> sdd_event {
        var made = sdd_event()
        made.kind = sdd_event_kind(kind)
        made.token = listener.token
        made.user_data = callbacks(of: listener).userData
        return made
    }

    private func interim(_ result: DownloadResult, _ kind: Int, of listener: Listener) -> (sdd_event, AnyObject?) {
        let lent = callbacks(of: listener).form(of: result, token: listener.token)
        var made = record(kind, of: listener)
        made.result = lent.pointer
        return (made, lent)
    }

    private func callbacks(of listener: Listener) -> RequestCallbacks {
        // Safety: apart from prefetch lists, this target makes a `RequestCallbacks` for every request whose events are
        // queued. Receivers of other types are called at once, without the queue.
        unsafeDowncast(listener.callbacks, to: RequestCallbacks.self)
    }
}
