import SDDBase
import SDDCaches
import SDDTransport

/// Parts of bodies, which 206 responses bring: RFC 9111 §3.3 and §3.4.
extension Revalidation {
    /// Returns the parts that a response is; `nil` if they must not be stored.
    func parts(_ head: ResponseHead, _ body: Bytes) -> StoredParts? {
        guard let fields = head.response.storableFields else { return nil }
        return CacheRules.makePart(
            lookup.request, url: head.response.url, fields: fields, bodyCount: body.count,
            requestTime: head.requestTime / 1_000_000, responseTime: head.responseTime / 1_000_000)
    }

    /// Adds parts to those that are stored, on the thread that makes changes: the next ones find what these have become.
    func keep(_ new: StoredParts, _ body: Bytes) {
        // The queue does not count this body as memory that waits to be written.
        guard lookup.cache.isOpen, !disk.isBehind else { return }
        disk.change { [self] in
            let (parts, bytes) = joined(new, body) ?? (new, body)
            guard let whole = CacheRules.whole(of: parts, family: UInt64.random(in: 1...UInt64.max)) else {
                return disk.writeNow(EntryMetadata(key: lookup.partsKey, http: parts.encoded()), bytes)
            }
            disk.removeNow(lookup.partsKey)
            disk.writeNow(entry(of: whole, bytes), bytes)
        }
    }

    private func joined(_ new: StoredParts, _ body: Bytes) -> (StoredParts, Bytes)? {
        guard let (entry, old) = lookup.storedParts(disk),
            let (parts, stretches) = CacheRules.joined(old, with: new, for: lookup.request)
        else { return nil }
        let builder = ByteBuilder()
        guard let count = Int(exactly: parts.byteCount), builder.reserve(count) else { return nil }
        for stretch in stretches {
            let source = UnsafeRawBufferPointer(
                rebasing: (stretch.isNew ? body : entry.body).pointer[stretch.bytes])
            guard let base = unsafe source.baseAddress, unsafe builder.append(base, count: source.count) else {
                return nil
            }
        }
        return (parts, builder.take())
    }
}
