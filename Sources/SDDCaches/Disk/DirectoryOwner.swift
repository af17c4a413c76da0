internal import SDDBase

/// Tells the directory of a cache from one with files of another program: many name pictures by an MD5, as entries are
/// named, and a cache would remove them as entries that are old or damaged.
enum DirectoryOwner {
    private static let step = 512

    /// Checks a directory without a secret key, which is one that no cache has been in yet.
    /// - Throws: `foreignFile` if a file there is named like an entry but is none.
    static func check(_ directory: CacheDirectory) throws(CacheError) {
        let reader = EntryReader(directory: directory, mapFrom: nil)
        var scan = try DirectoryScan(directory)
        var isMore = true
        while isMore {
            isMore = try scan.read(most: step)
            for entry in scan.take() where try isForeign(entry.name, reader) { throw .foreignFile(entry.name) }
        }
    }

    private static func isForeign(_ name: String, _ reader: EntryReader) throws(CacheError) -> Bool {
        guard let file = try reader.open(name) else { return false }
        defer { reader.close(file) }
        return !reader.endsLikeEntry(file)
    }
}
