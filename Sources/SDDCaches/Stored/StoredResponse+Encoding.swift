internal import Glibc
internal import SDDBase

/// Encodes a stored response as bytes, and decodes it. Numbers are little-endian; a text is its length in four bytes,
/// followed by the text. The selecting request fields come first, as in a `StoredSelection`. Bytes of another version
/// or with any defect decode to nil, which is a miss.
extension StoredResponse {
    static let version: UInt8 = 2

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

    static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    static func append(_ text: some Collection<UInt8>, to bytes: inout [UInt8]) {
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

extension [SelectingField] {
    func append(to bytes: inout [UInt8]) {
        StoredResponse.append(UInt32(clamping: count), to: &bytes)
        for field in self {
            StoredResponse.append(field.name.utf8, to: &bytes)
            bytes.append(field.value == nil ? 0 : 1)
            if let value = field.value { StoredResponse.append(value.utf8, to: &bytes) }
        }
    }
}
