internal import Glibc
internal import SDDBase

/// Encodes a stored response as bytes, and decodes it. Numbers are little-endian; a text is its length in four bytes,
/// followed by the text. The selecting request fields come first, as in a `StoredSelection`. Bytes of another version
/// or with any defect decode to nil, which is a miss.
extension StoredResponse {
    fileprivate static let version: UInt8 = 2

    package func encoded() -> [UInt8] {
        var bytes = [Self.version]
        selecting.append(to: &bytes)
        Self.append(UInt32(bitPattern: status), to: &bytes)
        Self.append(requestTime, to: &bytes)
        Self.append(responseTime, to: &bytes)
        Self.append(family, to: &bytes)
        Self.append(url.utf8, to: &bytes)
        Self.append(UInt32(clamping: fields.count), to: &bytes)
        for field in fields.all {
            Self.append(Self.bytes(field.name), to: &bytes)
            Self.append(Self.bytes(field.value), to: &bytes)
        }
        return withExtendedLifetime(fields) { bytes }
    }

    fileprivate static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    fileprivate static func append(_ text: some Collection<UInt8>, to bytes: inout [UInt8]) {
        append(UInt32(clamping: text.count), to: &bytes)
        bytes.append(contentsOf: text)
    }

    /// Returns the bytes of a text unchanged, whether they are UTF-8 or not.
    private static func bytes(_ text: ResponseFields.Text) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: text, count: strlen(text))
    }

    package init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = StoredBytes(bytes)
        guard reader.number(UInt8.self) == Self.version, let selecting = reader.selecting(),
            let status = reader.number(UInt32.self),
            let requestTime = reader.number(Int64.self), let responseTime = reader.number(Int64.self),
            let family = reader.number(UInt64.self), let url = reader.text(),
            let fields = reader.fields(), reader.isAtEnd
        else { return nil }
        self.init(
            status: Int32(bitPattern: status), url: url, fields: fields, requestTime: requestTime,
            responseTime: responseTime, selecting: selecting, family: family)
    }
}

/// Encodes only the selecting fields, for an entry that HTTP rules do not apply to.
extension StoredSelection {
    private static let version: UInt8 = 3

    package func encoded() -> [UInt8] {
        var bytes = [Self.version]
        fields.append(to: &bytes)
        return bytes
    }

    /// - Parameter bytes: an encoded selection, or an encoded stored response.
    package init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = StoredBytes(bytes)
        guard let version = reader.number(UInt8.self), let fields = reader.selecting(),
            version == StoredResponse.version || version == Self.version && reader.isAtEnd
        else { return nil }
        self.init(fields: fields)
    }
}

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

extension [SelectingField] {
    fileprivate func append(to bytes: inout [UInt8]) {
        StoredResponse.append(UInt32(clamping: count), to: &bytes)
        for field in self {
            StoredResponse.append(field.name.utf8, to: &bytes)
            bytes.append(field.value == nil ? 0 : 1)
            if let value = field.value { StoredResponse.append(value.utf8, to: &bytes) }
        }
    }
}

/// Reads from the front; returns nil once too few bytes are left. A value type.
private struct StoredBytes {
    private var reading: BytesReading

    init(_ bytes: UnsafeRawBufferPointer) { reading = BytesReading(bytes) }

    var isAtEnd: Bool { reading.isAtEnd }

    /// Reads a little-endian number; `BytesReading` reads big-endian ones.
    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        reading.number(type)?.byteSwapped
    }

    mutating func piece() -> UnsafeRawBufferPointer? {
        number(UInt32.self).flatMap { Int(exactly: $0) }.flatMap { reading.take($0) }
    }

    mutating func range() -> Range<Int64>? {
        guard let first = number(Int64.self), let end = number(Int64.self), 0 <= first, first < end else { return nil }
        return first..<end
    }

    mutating func text() -> String? { piece().flatMap { String(validating: $0, as: UTF8.self) } }

    mutating func fields() -> ResponseFields? {
        guard let count = number(UInt32.self) else { return nil }
        var builder = ResponseFieldsBuilder()
        for _ in 0..<count {
            // NUL ends a text in the fields' block, so encoded texts never contain it.
            guard let name = piece(), let value = piece(), !name.contains(0), !value.contains(0),
                builder.append(name: name, value: value)
            else { return nil }
        }
        return builder.take()
    }

    mutating func selecting() -> [SelectingField]? {
        guard let count = number(UInt32.self) else { return nil }
        var fields: [SelectingField] = []
        for _ in 0..<count {
            guard let name = text(), let hasValue = number(UInt8.self), hasValue <= 1 else { return nil }
            let value = hasValue == 1 ? text() : nil
            guard hasValue == 0 || value != nil else { return nil }
            fields.append(SelectingField(name: name, value: value))
        }
        return fields
    }
}
