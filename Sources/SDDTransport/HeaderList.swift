internal import CCurl
internal import SDDBase

/// The header fields of a request in libcurl's form. Most requests carry the downloader's own fields, all
/// sharing one storage, so one list serves many transfers; each keeps it alive while libcurl reads it.
/// thread: sdd-net
final class HeaderList {
    private(set) var first: UnsafeMutablePointer<curl_slist>?
    private let fields: HTTPFields

    /// - Returns: nil when there is no memory.
    init?(_ fields: HTTPFields) {
        self.fields = fields
        for field in fields.fields where !append(Self.line(for: field)) { return nil }
        for name in Self.additions where fields[name] == nil && !append(name + ":") { return nil }
    }

    deinit { curl_slist_free_all(first) }

    /// Costs one comparison of addresses when the two share their storage.
    func serves(_ fields: HTTPFields) -> Bool { self.fields == fields }

    /// What libcurl would add by itself, and is told not to by a line without a value. "Expect" would make
    /// a body wait a second for servers that do not know it.
    private static let additions = ["Accept", "Content-Type", "Expect"]

    private func append(_ line: String) -> Bool {
        guard let longer = curl_slist_append(first, line) else { return false }
        first = longer
        return true
    }

    private static func line(for field: HTTPFields.Field) -> String {
        // libcurl reads "Name:" without a value as an order to leave the field out; "Name;" sends it.
        let isBlank = field.value.utf8.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return isBlank ? field.name + ";" : field.name + ": " + field.value
    }
}
