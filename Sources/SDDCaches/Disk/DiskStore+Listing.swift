internal import SDDBase

/// An entry found in the directory of a cache.
package struct ListedEntry: Equatable, Sendable {
    package enum State: Equatable, Sendable {
        case good
        /// Too old; the next trim removes it.
        case expired
        case damaged
        /// Another version of the library has written it; this one leaves it alone.
        case foreign
    }

    package let state: State
    /// The name of the file.
    package let file: String
    /// `nil` if the trailer cannot be read.
    package let metadata: EntryMetadata?
    package let bodyLength: Int64?
    package let allocated: Int64
    /// Microseconds since 1970.
    package let stored: Int64
    package let used: Int64
    let status: FileStatus
}

/// Lists the entries of a store's own directory, in no order, in steps that hold a limited number of names. Use it on
/// one thread at a time. Blocking: a few system calls for each entry.
struct DiskListing {
    private let store: DiskStore
    private let reader: EntryReader
    private let checksBodies: Bool
    private var scan: DirectoryScan

    /// The number of names that are read at a time.
    private static let step = 256

    /// - Parameter checksBodies: whether each body is compared with its checksum.
    init(_ store: DiskStore, checksBodies: Bool) throws(CacheError) {
        self.store = store
        self.checksBodies = checksBodies
        reader = EntryReader(directory: store.directory, mapFrom: nil)
        scan = try DirectoryScan(store.directory)
    }

    /// Returns the files of the next step; `nil` at the end.
    mutating func next() throws(CacheError) -> [DirectoryScan.Entry]? {
        let isMore = try scan.read(most: Self.step)
        let found = scan.take()
        return isMore || !found.isEmpty ? found : nil
    }

    /// Looks at a file without counting it as a use. Returns `nil` if it is gone.
    func look(at found: DirectoryScan.Entry) throws(CacheError) -> ListedEntry? {
        guard let file = try reader.open(found.name) else { return nil }
        defer { reader.close(file) }
        do throws(EntryFlaw) {
            let trailer = try reader.trailer(in: file, key: nil)
            let name = EntryName(key: trailer.metadata.key)
            // A file under a name of another key is never found.
            guard name.full == found.name || name.other == found.name else { throw .damaged }
            if checksBodies { try reader.checkBody(of: file, trailer: trailer) }
            return entry(found.name, file.status, store.isExpired(found.name, file.status) ? .expired : .good, trailer)
        } catch {
            switch error {
            case .failed(let failure): throw failure
            case .damaged: return entry(found.name, file.status, .damaged, nil)
            case .notOurs: return entry(found.name, file.status, .foreign, nil)
            }
        }
    }

    private func entry(
        _ name: String, _ status: FileStatus, _ state: ListedEntry.State, _ trailer: EntryTrailer?
    ) -> ListedEntry {
        ListedEntry(
            state: state, file: name, metadata: trailer?.metadata,
            bodyLength: trailer.map { Int64(clamping: $0.bodyLength) }, allocated: status.allocated,
            stored: status.modified, used: max(status.used, store.lastUse(of: name) ?? .min), status: status)
    }
}
