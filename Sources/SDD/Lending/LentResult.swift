public import CSDD
internal import Glibc
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

/// A result in C form, in one block of memory with its metrics and address. The block is freed with the last reference.
/// Thread: the one on which the downloader delivers; or any, of a result that the application owns.
final class LentResult {
    private struct Block {
        var result = sdd_result()
        var metrics = sdd_metrics()
        /// The object itself, with one reference, if the application owns the result.
        var owner: UnsafeRawPointer?
    }

    /// What a result hands out of a picture.
    struct Parts: OptionSet {
        let rawValue: Int
        static let image = Parts(rawValue: 1)
        static let bytes = Parts(rawValue: 2)
        static let response = Parts(rawValue: 4)
        static let all: Parts = [.image, .bytes, .response]
    }

    private static let addressCapacity = 64

    private let block: UnsafeMutablePointer<Block>
    private let source: DownloadResult
    private let kept: Kept?

    /// What the block points to beside the result itself; most results need nothing of it.
    private final class Kept {
        let message: CText?
        let failures: LentOutcomes?
        let url: CText?
        /// The cached result, if its refresh has ended with an error.
        let cached: DownloadResult?

        init(_ error: DownloadError?, _ failures: [SourceFailure], _ url: CText?, _ cached: DownloadResult?) {
            message = error.map { CText($0.message) }
            self.failures = failures.isEmpty ? nil : LentOutcomes(failures)
            self.url = url
            self.cached = cached
        }
    }

    /// - Parameters:
    ///   - url: lives as long as the result, unless there is an `ownURL`.
    ///   - cached: the cached result whose refresh has ended with an error.
    ///   - error: in place of that of the result.
    init(
        _ source: DownloadResult, token: UInt64, url: UnsafePointer<CChar>?, ownURL: CText? = nil,
        cached: DownloadResult? = nil, error: DownloadError? = nil, with parts: Parts = .all
    ) {
        self.source = source
        let isPlain = source.isPlain && error == nil && ownURL == nil
        kept = isPlain ? nil : Kept(error ?? source.error, source.failures, ownURL, source.error == nil ? nil : cached)
        // Safety: the memory holds the block followed by an address. Its size is small and does not depend on input.
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: MemoryLayout<Block>.size + Self.addressCapacity, alignment: MemoryLayout<Block>.alignment)
        block = memory.bindMemory(to: Block.self, capacity: 1)
        block.initialize(to: Block())
        let address = (memory + MemoryLayout<Block>.size).assumingMemoryBound(to: CChar.self)
        source.metrics.transfer.remoteAddress.withCString { text in
            copyText(address, Self.addressCapacity, text)
        }
        fill(&block.pointee.metrics, address: address)
        fill(&block.pointee.result, token: token, url: ownURL?.pointer ?? url, parts)
        if !isPlain, let error = error ?? source.error { fill(&block.pointee.result, error) }
    }

    deinit { UnsafeMutableRawPointer(block).deallocate() }

    var pointer: UnsafePointer<sdd_result> { UnsafeRawPointer(block).assumingMemoryBound(to: sdd_result.self) }

    func withPointer(_ body: (UnsafePointer<sdd_result>) -> Void) {
        withExtendedLifetime(self) { body(pointer) }
    }

    /// Fills a result as that of a success.
    private func fill(_ made: inout sdd_result, token: UInt64, url: UnsafePointer<CChar>?, _ parts: Parts) {
        made.struct_size = MemoryLayout<sdd_result>.size
        made.token = token
        made.url = url
        made.failure.http_status = source.httpStatus
        made.failure.message = emptyString
        if parts.contains(.response) { made.response = Handle.borrowed(source.response) }
        made.store_error = source.storeFailure?.error.storeErrno ?? 0
        made.is_terminal = source.isPreview ? 0 : 1
        if let cached = kept?.cached { show(cached, in: &made, parts) } else { show(source, in: &made, parts) }
        // Safety: the metrics are a field of the block, which lives as long as this object.
        made.metrics = (UnsafeRawPointer(block) + (MemoryLayout<Block>.offset(of: \.metrics) ?? 0))
            .assumingMemoryBound(to: sdd_metrics.self)
        if let failures = kept?.failures {
            made.sources = failures.pointer
            made.source_count = source.failures.count
        }
    }

    private func show(_ shown: DownloadResult, in made: inout sdd_result, _ parts: Parts) {
        if parts.contains(.image) { made.image = Handle.borrowed(shown.image) }
        if parts.contains(.bytes) { made.bytes = Handle.borrowed(shown.bytes) }
        made.extended = Handle.borrowed(shown.extended)
        made.origin = shown.origin.rawValue
        made.is_transformed = shown.isTransformed ? 1 : 0
    }

    private func fill(_ made: inout sdd_result, _ error: DownloadError) {
        made.failure = sdd_failure(
            error, stage: source.stage, httpStatus: source.httpStatus, message: kept?.message?.pointer)
        if kept?.cached == nil { made.origin = DownloadResult.Origin.none.rawValue }
    }

    private func fill(_ made: inout sdd_metrics, address: UnsafePointer<CChar>) {
        made.struct_size = MemoryLayout<sdd_metrics>.size
        // A failed clock read makes times slightly wrong, so negative ones become 0, and the total is never less than
        // the queue, decode or cache time.
        made.queue_us = max(0, source.timings.queue)
        made.name_lookup_us = max(0, source.timings.transfer.nameLookup)
        made.connect_us = max(0, source.timings.transfer.connect)
        made.tls_us = max(0, source.timings.transfer.tls)
        made.first_byte_us = max(0, source.timings.transfer.firstByte)
        made.transfer_us = max(0, source.timings.transfer.total)
        made.decode_us = max(0, source.timings.decode)
        made.cache_us = max(0, source.timings.cache)
        made.store_us = max(0, source.timings.store)
        made.total_us = max(source.timings.total, made.queue_us, made.decode_us, made.cache_us)
        made.delivery_us = max(0, SystemTime().monotonicMicroseconds() - source.ended)
        made.request_bytes = source.metrics.transfer.requestBytes
        made.response_header_bytes = source.metrics.transfer.headerBytes
        made.response_body_bytes = source.metrics.transfer.bodyBytes
        made.body_bytes = source.metrics.bodyBytes
        // The response may be one that a cache had, and that a 304 has confirmed.
        let version = source.response == nil ? 0 : source.metrics.transfer.httpVersion
        made.http_version = version > 0 ? version : source.response?.httpVersion ?? 0
        made.connection_reused = version > 0 && source.metrics.transfer.connectionsOpened == 0 ? 1 : 0
        made.redirects = source.metrics.transfer.redirects
        made.attempts = source.metrics.attempts
        made.remote_port = source.metrics.transfer.remotePort
        made.remote_address = address
        made.saved_bytes = source.metrics.savedBytes
        made.resumed_bytes = source.metrics.transfer.resumedBytes
        made.end_unproven = source.isEndUnproven ? 1 : 0
    }
}

// MARK: - Results that the application owns

extension LentResult {
    /// Returns the result with one reference that the application gives back by sdd_result_release().
    func own() -> UnsafeMutablePointer<sdd_result> {
        block.pointee.owner = UnsafeRawPointer(Unmanaged.passRetained(self).toOpaque())
        return UnsafeMutableRawPointer(block).assumingMemoryBound(to: sdd_result.self)
    }

    /// Gives back the reference. Does nothing to a result that was only lent.
    static func release(_ result: UnsafeMutablePointer<sdd_result>) {
        // Safety: every sdd_result that the library hands out is the first field of a block.
        let block = UnsafeMutableRawPointer(result).assumingMemoryBound(to: Block.self)
        guard let owner = block.pointee.owner else { return }
        Unmanaged<LentResult>.fromOpaque(owner).release()
    }
}

@_cdecl("sdd_result_release") @implementation
public func sdd_result_release(_ result: UnsafeMutablePointer<sdd_result>?) {
    if let result { LentResult.release(result) }
}

/// Copies a text, as far as there is room, and a NUL.
private func copyText(_ target: UnsafeMutablePointer<CChar>, _ capacity: Int, _ text: UnsafePointer<CChar>) {
    let length = strnlen(text, capacity - 1)
    memcpy(target, text, length)
    target[length] = 0
}
