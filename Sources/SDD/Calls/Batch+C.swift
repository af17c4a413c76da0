public import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

// Creating, waiting for and cancelling batches, and reading their items.

@_cdecl("sdd_batch_create") @implementation
public func sdd_batch_create(
    _ config: UnsafePointer<sdd_batch_config>?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let out else { throw .null("out") }
        out.pointee = nil
        out.pointee = Handle.batches.add(try makeBatch(read(config, "config")))
    }
}

@_cdecl("sdd_batch_destroy") @implementation
public func sdd_batch_destroy(_ batch: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in
        let batch = try Handle.batches.remove(batch, "batch") { (batch) throws(Refusal) in
            if batch.isAsking { throw refusal(.wouldDeadlock) }
        }
        batch.close()
    }
}

@_cdecl("sdd_batch_wait") @implementation
public func sdd_batch_wait(
    _ batch: OpaquePointer?, _ items: UnsafeMutablePointer<sdd_batch_item>?, _ max: Int, _ milliseconds: Int64,
    _ count: UnsafeMutablePointer<Int>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let count else { throw .null("count") }
        let records = try Records(items, "items", capacity: clamped(max), minimum: throughResult)
        let batch = try Handle.batch(batch)
        let taken = try refusing(refusal) { () throws(BatchFailure) in
            try batch.wait(most: records.capacity, milliseconds: milliseconds)
        }
        for (place, item) in taken.enumerated() { records.write(record(item, of: batch), at: place) }
        count.pointee = taken.count
    }
}

private func refusal(_ failure: BatchFailure) -> Refusal {
    switch failure {
    case .timedOut: .timeIsOver("no item has ended")
    case .closed: Refusal(SDD_ERROR_CLOSED, "batch", "another thread has destroyed it meanwhile")
    case .wouldDeadlock:
        Refusal(SDD_ERROR_WOULD_DEADLOCK, "batch", "a thread that its items need, or its `next`, cannot wait for it")
    }
}

@_cdecl("sdd_batch_release_slot") @implementation
public func sdd_batch_release_slot(_ batch: OpaquePointer?, _ slot: Int64) -> sdd_status {
    status { () throws(Refusal) in
        let batch = try Handle.batch(batch)
        guard let place = Int(exactly: slot), batch.release(slot: place) else {
            throw Refusal(SDD_ERROR_NOT_FOUND, "slot", "\(slot) is none whose item has been taken and not yet released")
        }
    }
}

@_cdecl("sdd_batch_cancel") @implementation
public func sdd_batch_cancel(_ batch: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in try Handle.batch(batch).cancel() }
}

@_cdecl("sdd_batch_event_fd") @implementation
public func sdd_batch_event_fd(_ batch: OpaquePointer?) -> Int32 {
    answer(orElse: -1) { () throws(Refusal) in try Handle.batch(batch).eventDescriptor }
}

/// Bytes of a record through `result`. Smaller records are refused, since the caller has to release it.
private let throughResult =
    (MemoryLayout<sdd_batch_item>.offset(of: \sdd_batch_item.result) ?? 0)
    + MemoryLayout<UnsafeMutablePointer<sdd_result>?>.size

private func record(_ item: BatchItem, of batch: Batch) -> sdd_batch_item {
    var made = sdd_batch_item()
    made.id = item.id
    made.index = Int64(item.index)
    made.slot = item.slot.map { Int64($0) } ?? -1
    var parts: LentResult.Parts = batch.wantsResponses ? .response : []
    if item.error == nil {
        made.width = Int32(clamping: item.result.image?.width ?? 0)
        made.height = Int32(clamping: item.result.image?.height ?? 0)
        made.colour_kind = item.result.image?.colour?.kind.rawValue ?? 0
        made.is_converted = item.result.image?.isConverted == true ? 1 : 0
        // An image has its own bytes; a tensor has its pixels.
        if !batch.hasTensor { parts.insert(item.result.image == nil ? .bytes : .image) }
    }
    made.result = LentResult(item.result, token: 0, url: nil, error: item.error, with: parts).own()
    return made
}
