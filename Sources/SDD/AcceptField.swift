internal import SDDCoders

/// The header field Accept of requests that say nothing of it (RFC 9110 §12.5.1): what the library decodes by itself, then
/// what coders of the application's do, sorted, so that the order in which they came makes no other variant.
enum AcceptField {
    static let name = "Accept"

    private static let ownTypes = ["image/jpeg", "image/png"]
    /// Other pictures, and all else, are better than nothing.
    private static let rest = ["image/*;q=0.8", "*/*;q=0.5"]

    static func text(of lists: [HostCoderList]) -> String {
        let types = Set(lists.flatMap { $0.newestFirst.compactMap(\.mimeType) }).subtracting(ownTypes)
        return (ownTypes + types.sorted() + rest).joined(separator: ",")
    }
}
