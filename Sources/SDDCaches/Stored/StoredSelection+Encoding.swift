internal import SDDBase

/// Encodes only the selecting fields, for an entry that HTTP rules do not apply to.
extension StoredSelection {
    private static let version: UInt8 = 3

    package func encoded() -> [UInt8] {
        var bytes = [Self.version]
        fields.append(to: &bytes)
        return bytes
    }

    /// - Parameter bytes: an encoded selection, or an encoded stored response. The body of an error response is not the
    ///   picture of its URL: it decodes to nil.
    package init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = StoredBytes(bytes)
        guard let version = reader.number(UInt8.self), let fields = reader.selecting() else { return nil }
        switch version {
        case Self.version where reader.isAtEnd: break
        case StoredResponse.version:
            guard let status = reader.number(UInt32.self), (200...299).contains(status) else { return nil }
        default: return nil
        }
        self.init(fields: fields)
    }
}
