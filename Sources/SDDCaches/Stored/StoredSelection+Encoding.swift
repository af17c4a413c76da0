internal import SDDBase

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
