public import CSDD
internal import SDDEngine

// Statistics of a batch.

@_cdecl("sdd_batch_get_statistics") @implementation
public func sdd_batch_get_statistics(
    _ batch: OpaquePointer?, _ out: UnsafeMutablePointer<sdd_batch_statistics>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard out != nil else { throw .null("statistics") }
        let batch = try Handle.batch(batch)
        try fill(out, "statistics", with: statistics(batch.counts, elapsed: batch.elapsed))
    }
}

private func statistics(_ counts: BatchCounts, elapsed: Int64) -> sdd_batch_statistics {
    var made = sdd_batch_statistics()
    made.items = counts.items
    made.succeeded = counts.succeeded
    made.failed = counts.failed
    made.cancelled = counts.cancelled
    made.bytes = counts.bytes
    made.pixels = counts.pixels
    made.elapsed_us = elapsed
    if elapsed > 0 {
        made.items_per_second = Double(counts.items) / Double(elapsed) * 1_000_000
        made.bytes_per_second = Double(counts.bytes) / Double(elapsed) * 1_000_000
    }
    return made
}

@_cdecl("sdd_batch_get_status") @implementation
public func sdd_batch_get_status(
    _ batch: OpaquePointer?, _ index: Int, _ out: UnsafeMutablePointer<sdd_batch_status>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard out != nil else { throw .null("status") }
        let kinds = try Handle.batch(batch).counts.kinds
        guard kinds.indices.contains(index) else {
            throw .index(UInt(bitPattern: index), of: kinds.count, "kinds of ends so far")
        }
        var made = sdd_batch_status()
        made.items = kinds[index].items
        let kind = kinds[index].kind
        let error = kind.code.map { DownloadError($0, kind.detail, "") }
        let message = error.flatMap { sdd_status_message($0.code.rawValue) }
        made.failure = sdd_failure(error, stage: .none, httpStatus: kind.httpStatus, message: message)
        try fill(out, "status", with: made)
    }
}

@_cdecl("sdd_batch_get_host") @implementation
public func sdd_batch_get_host(
    _ batch: OpaquePointer?, _ index: Int, _ out: UnsafeMutablePointer<sdd_batch_host>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard out != nil else { throw .null("host") }
        let hosts = try Handle.batch(batch).counts.hosts
        guard hosts.indices.contains(index) else {
            throw .index(UInt(bitPattern: index), of: hosts.count, "hosts so far")
        }
        var made = sdd_batch_host()
        made.items = hosts[index].host.items
        made.failed = hosts[index].host.failed
        made.bytes = hosts[index].host.bytes
        made.time_us = hosts[index].host.microseconds
        withUnsafeMutableBytes(of: &made.host) { place in
            writeCut(hosts[index].name, to: place.bindMemory(to: CChar.self).baseAddress, capacity: place.count)
        }
        try fill(out, "host", with: made)
    }
}
