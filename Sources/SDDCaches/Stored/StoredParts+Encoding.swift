internal import SDDBase

/// Encodes the record of parts. A reader of entries that does not know this version finds none.
extension StoredParts {
    private static let version: UInt8 = 4

    package func encoded() -> [UInt8] {
        var bytes = [Self.version]
        StoredResponse.append(total ?? -1, to: &bytes)
        StoredResponse.append(asked.utf8, to: &bytes)
        StoredResponse.append(UInt32(clamping: pieces.count), to: &bytes)
        for range in [answer] + pieces {
            StoredResponse.append(range.lowerBound, to: &bytes)
            StoredResponse.append(range.upperBound, to: &bytes)
        }
        StoredResponse.append(response.encoded(), to: &bytes)
        return bytes
    }

    /// Whether the metadata of an entry are those of parts, which are no image, and nobody's but the HTTP cache's.
    package static func areIn(_ metadata: EntryMetadata) -> Bool { metadata.http.first == version }

    package init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = StoredBytes(bytes)
        guard reader.number(UInt8.self) == Self.version, let total = reader.number(Int64.self), total >= -1,
            let asked = reader.text(), let count = reader.number(UInt32.self), let answer = reader.range()
        else { return nil }
        var pieces: [Range<Int64>] = []
        for _ in 0..<count {
            guard let piece = reader.range() else { return nil }
            pieces.append(piece)
        }
        guard let text = reader.piece(), reader.isAtEnd, let response = StoredResponse(decoding: text) else {
            return nil
        }
        self.init(
            response: response, total: total < 0 ? nil : total, pieces: pieces, asked: asked, answer: answer)
        guard isSound else { return nil }
    }
}
