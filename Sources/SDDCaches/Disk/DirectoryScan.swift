internal import SDDBase

/// What lies in the cache's directory, by the names and without opening anything. Files that cannot be ours are left
/// out. Blocking: some microseconds for each entry.
struct DirectoryScan {
    struct Entry: Equatable {
        let name: String
        var used: Int64
        var modified: Int64
        var allocated: Int64
        /// Of the file, so that another one in its place is told from it.
        var number: UInt64
    }

    private(set) var entries: [Entry] = []
    private(set) var temporaries: [Entry] = []

    init(_ directory: CacheDirectory) throws(CacheError) {
        var names: [String] = []
        try CacheError.during(.list) { () throws(SystemError) in
            try directory.files.list(directory.descriptor) { name in
                if EntryName.isEntry(name) || TemporaryName.isOne(name) { names.append(name) }
                return true
            }
        }
        for name in names {
            // Gone by now, perhaps.
            guard let status = try? directory.files.status(of: name, in: directory.descriptor), status.kind == .file
            else { continue }
            let entry = Entry(name, status)
            if TemporaryName.isOne(name) { temporaries.append(entry) } else { entries.append(entry) }
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
