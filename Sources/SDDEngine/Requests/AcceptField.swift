package import SDDCoders

/// The default Accept header field (RFC 9110 §12.5.1): the media types that the library itself decodes, then those of
/// the application's coders and of those that are installed. The latter are sorted, so that the order of registration
/// does not produce another variant.
package enum AcceptField {
    package static let name = "Accept"

    private static let ownTypes = ["image/jpeg", "image/png"]
    /// Fallbacks: other image types, then anything.
    private static let rest = ["image/*;q=0.8", "*/*;q=0.5"]

    package static func text(of lists: [AppCoderList], installed: InstalledCoders? = nil) -> String {
        let given = lists.flatMap { $0.newestFirst.compactMap(\.mimeType) }
        let types = Set(given + (installed?.formats ?? []).flatMap(\.mediaTypes)).subtracting(ownTypes)
        return (ownTypes + types.sorted() + rest).joined(separator: ",")
    }
}
