internal import CSDD
internal import Glibc
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

/// A result in C form, in one block of memory with its timings, metrics and address. The block is freed with the last
/// reference. Thread: the one on which the downloader delivers.
final class LentResult {
    private struct Block {
        var result = sdd_result()
        var timings = sdd_timings()
        var metrics = sdd_metrics()
    }

    private static let addressCapacity = 64

    private let block: UnsafeMutablePointer<Block>
    private let message: CText?
    private let source: DownloadResult
    private let failures: LentFailures?

    init(_ source: DownloadResult, token: UInt64, url: UnsafePointer<CChar>?) {
        self.source = source
        failures = source.failures.isEmpty ? nil : LentFailures(source.failures)
        message = source.error.map { CText($0.message) }
        // Safety: the memory holds the block followed by an address. Its size is small and does not depend on input.
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: MemoryLayout<Block>.size + Self.addressCapacity, alignment: MemoryLayout<Block>.alignment)
        block = memory.bindMemory(to: Block.self, capacity: 1)
        block.initialize(to: Block())
        let address = (memory + MemoryLayout<Block>.size).assumingMemoryBound(to: CChar.self)
        source.metrics.transfer.remoteAddress.withCString { text in
            copyText(address, Self.addressCapacity, text)
        }
        fillTimings()
        fillMetrics(address: address)
        fillResult(token: token, url: url)
    }

    deinit { UnsafeMutableRawPointer(block).deallocate() }

    var pointer: UnsafePointer<sdd_result> { UnsafeRawPointer(block).assumingMemoryBound(to: sdd_result.self) }

    func withPointer(_ body: (UnsafePointer<sdd_result>) -> Void) {
        withExtendedLifetime(self) { body(pointer) }
    }

    private func fillResult(token: UInt64, url: UnsafePointer<CChar>?) {
        var made = sdd_result()
        made.struct_size = MemoryLayout<sdd_result>.size
        made.token = token
        made.url = url
        made.image = Handle.borrowed(source.image)
        made.bytes = Handle.borrowed(source.bytes)
        made.response = Handle.borrowed(source.response)
        made.origin = source.origin.rawValue
        made.extended = Handle.borrowed(source.extended)
        made.http_status = source.httpStatus
        made.finished = source.isPreview ? 0 : 1
        made.message = message?.pointer ?? emptyString
        // Safety: both are fields of the block, which lives as long as this object.
        let start = UnsafeRawPointer(block)
        made.timings = (start + (MemoryLayout<Block>.offset(of: \.timings) ?? 0)).assumingMemoryBound(
            to: sdd_timings.self)
        made.metrics = (start + (MemoryLayout<Block>.offset(of: \.metrics) ?? 0)).assumingMemoryBound(
            to: sdd_metrics.self)
        made.end_unproven = source.isEndUnproven ? 1 : 0
        made.transformed = source.isTransformed ? 1 : 0
        if let failures {
            made.sources = failures.pointer
            made.source_count = source.failures.count
        }
        if let error = source.error {
            made.error = error.code.rawValue
            made.detail = error.detail.rawValue
            made.curl_code = error.curlCode
            made.system_error = error.systemError
            made.error_class = error.errorClass.rawValue
            made.stage = source.stage.rawValue
            made.retryable = error.isRetryable ? 1 : 0
        }
        block.pointee.result = made
    }

    private func fillTimings() {
        var made = sdd_timings()
        made.struct_size = MemoryLayout<sdd_timings>.size
        // A failed clock read makes times slightly wrong, so negative ones become 0, and the total is never less than
        // the queue, decode or cache time.
        let timings = source.timings
        made.queue_us = max(0, timings.queue)
        made.name_lookup_us = max(0, timings.transfer.nameLookup)
        made.connect_us = max(0, timings.transfer.connect)
        made.tls_us = max(0, timings.transfer.tls)
        made.first_byte_us = max(0, timings.transfer.firstByte)
        made.transfer_us = max(0, timings.transfer.total)
        made.decode_us = max(0, timings.decode)
        made.cache_us = max(0, timings.cache)
        made.store_us = max(0, timings.store)
        made.total_us = max(timings.total, made.queue_us, made.decode_us, made.cache_us)
        made.delivery_us = max(0, SystemTime().monotonicMicroseconds() - source.ended)
        block.pointee.timings = made
    }

    private func fillMetrics(address: UnsafePointer<CChar>) {
        var made = sdd_metrics()
        made.struct_size = MemoryLayout<sdd_metrics>.size
        let transfer = source.metrics.transfer
        made.request_bytes = transfer.requestBytes
        made.response_header_bytes = transfer.headerBytes
        made.response_body_bytes = transfer.bodyBytes
        made.body_bytes = source.metrics.bodyBytes
        made.http_version = source.response?.httpVersion ?? 0
        made.connection_reused = source.response != nil && transfer.connectionsOpened == 0 ? 1 : 0
        made.redirects = transfer.redirects
        made.attempts = source.metrics.attempts
        made.remote_port = transfer.remotePort
        made.remote_address = address
        made.saved_bytes = source.metrics.savedBytes
        made.resumed_bytes = transfer.resumedBytes
        block.pointee.metrics = made
    }
}

/// Copies a text, as far as there is room, and a NUL.
private func copyText(_ target: UnsafeMutablePointer<CChar>, _ capacity: Int, _ text: UnsafePointer<CChar>) {
    let length = strnlen(text, capacity - 1)
    memcpy(target, text, length)
    target[length] = 0
}
