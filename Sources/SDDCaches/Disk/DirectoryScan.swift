internal import SDDBase

/// The entries and temporary files in the cache's directory, found by their names and without opening them, as far as
/// they have been read. Other files are ignored. Blocking: some microseconds for each entry.
struct DirectoryScan {
    struct Entry: Equatable {
        let name: String
        var used: Int64
        var modified: Int64
        var allocated: Int64
        /// The inode number of the file, which tells it from another one in its place.
        var number: UInt64
    }

    private(set) var entries: [Entry] = []
    private(set) var temporaries: [Entry] = []
    private let directory: CacheDirectory
    private let listing: DirectoryListing

    init(_ directory: CacheDirectory) throws(CacheError) {
        self.directory = directory
        listing = try CacheError.during(.list) { () throws(SystemError) in
            try directory.files.listing(directory.descriptor)
        }
    }

    /// Scans the whole directory.
    static func whole(_ directory: CacheDirectory) throws(CacheError) -> DirectoryScan {
        var scan = try DirectoryScan(directory)
        while try scan.read(most: .max) {}
        return scan
    }

    /// Reads up to `most` more names.
    /// - Returns: false at the end.
    mutating func read(most: Int) throws(CacheError) -> Bool {
        for _ in 0..<most {
            let name = try CacheError.during(.list) { () throws(SystemError) in try listing.next() }
            guard let name else { return false }
            try look(at: name)
        }
        return true
    }

    /// Removes all that has been read, and returns the entries.
    mutating func take() -> [Entry] {
        defer { (entries, temporaries) = ([], []) }
        return entries
    }

    private mutating func look(at name: String) throws(CacheError) {
        let isTemporary = TemporaryName.isOne(name)
        guard isTemporary || EntryName.isEntry(name) else { return }
        let status = try CacheError.during(.list) { () throws(SystemError) in
            try directory.files.statusIfThere(of: name, in: directory.descriptor)
        }
        // The file may have been removed meanwhile.
        guard let status, status.kind == .file else { return }
        if isTemporary {
            temporaries.append(Entry(name, status))
        } else {
            entries.append(Entry(name, status))
        }
    }

    var totals: DiskTotals {
        entries.reduce(DiskTotals()) { $0 + DiskTotals(bytes: $1.allocated, count: 1) }
    }
}

extension DirectoryScan.Entry {
    init(_ name: String, _ status: FileStatus) {
        self.init(
            name: name, used: status.used, modified: status.modified, allocated: status.allocated,
            number: status.number)
    }
}
