import SDDBase
import SDDCaches
import SDDTransport

/// Ranges of stored bodies (RFC 9110 §14, RFC 9111 §3.3): of the entry with the whole body, or of the entry with the
/// parts of it that came. An entry of parts has a key of its own, under which nothing else looks.
extension HTTPCacheLookup {
    /// What a request for a range gets.
    struct Cut: Sendable {
        let range: ServedRange
        let body: Bytes
    }

    /// The key of an entry of parts. The text behind the line end is neither that of a variant, where a name begins,
    /// nor that of a caller, because a parenthesis is in neither.
    static func partsKey(of key: String) -> String { key + "\n(parts)" }

    var partsKey: String { Self.partsKey(of: key) }

    /// Returns the entries with what the range gets as the selected one: of the whole body if there is one, and of
    /// parts otherwise, or if they are newer. Call on a thread that may wait for the disk.
    func cut(_ entries: Entries, to range: RangeWish, _ disk: DiskCache) -> Entries {
        var entries = entries
        let whole = entries.selected
        entries.selected = whole.flatMap { cut($0, to: range) }
        guard let (entry, parts) = storedParts(disk),
            parts.response.responseTime > whole?.response.responseTime ?? .min,
            let served = parts.served(range), let place = parts.place(of: served.bounds),
            allows(range, parts.response), let body = piece(place, of: entry.body)
        else { return entries }
        entries.selected = Stored(
            key: partsKey, entry: entry, response: parts.response, cut: Cut(range: served, body: body), parts: parts)
        return entries
    }

    /// - Returns: `nil` if only the server can answer: because there is no such range, or because the response is none
    ///   that ranges are of.
    private func cut(_ whole: Stored, to range: RangeWish) -> Stored? {
        let total = Int64(whole.entry.body.count)
        guard whole.response.status == 200, CacheRules.isCuttable(whole.response.fields),
            allows(range, whole.response), let bounds = range.positions(in: total),
            let body = piece(Int(bounds.lowerBound)..<Int(bounds.upperBound), of: whole.entry.body)
        else { return nil }
        var stored = whole
        stored.cut = Cut(range: ServedRange(bounds: bounds, total: total), body: body)
        return stored
    }

    /// Whether the range may be of this response: RFC 9110 §13.1.5.
    private func allows(_ range: RangeWish, _ response: StoredResponse) -> Bool {
        guard let validator = range.ifRange else { return true }
        return Validator.strong(of: response.fields)?.text.utf8.elementsEqual(validator.utf8) ?? false
    }

    /// - Returns: `nil` if there is no memory.
    private func piece(_ place: Range<Int>, of body: Bytes) -> Bytes? {
        place.count == body.count
            ? body : unsafe Bytes(copying: UnsafeRawBufferPointer(rebasing: body.pointer[place]))
    }

    /// Reads the parts of the URL's body. Call on a thread that may wait for the disk.
    func storedParts(_ disk: DiskCache) -> (entry: StoredEntry, parts: StoredParts)? {
        guard let entry = disk.read(partsKey),
            let parts = unsafe entry.metadata.http.withUnsafeBytes({ unsafe StoredParts(decoding: $0) }),
            parts.byteCount == Int64(entry.body.count), CacheRules.selects(parts.response, request)
        else { return nil }
        return (entry, parts)
    }
}

extension HTTPCacheLookup.Stored {
    /// Makes the header as a caller sees it (RFC 9111 §5.1); `nil` if there is no memory.
    /// - Parameter updated: the response after a validation; `nil` means the stored one.
    func head(age: Int64, updated: StoredResponse? = nil) -> ResponseHead? {
        let response = updated ?? response
        guard let fields = CacheRules.servedFields(response, age: age, part: cut?.range) else { return nil }
        return ResponseHead(
            response: Response(status: cut == nil ? response.status : 206, url: response.url, fields: fields),
            expectedBytes: Int64(body.count))
    }

    /// The record of the entry after a validation.
    func record(of updated: StoredResponse) -> [UInt8] {
        guard var parts else { return updated.encoded() }
        parts.response = updated
        return parts.encoded()
    }
}
