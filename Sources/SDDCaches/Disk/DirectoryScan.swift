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

    let entries: [Entry]
    let temporaries: [Entry]

    init(_ directory: CacheDirectory) throws(CacheError) {
        // Each as it is listed: all their names would be many megabytes more.
        var (entries, temporaries) = ([Entry](), [Entry]())
        try CacheError.during(.list) { () throws(SystemError) in
            try directory.files.list(directory.descriptor) { name in
                let isTemporary = TemporaryName.isOne(name)
                // Gone by now, perhaps.
                guard isTemporary || EntryName.isEntry(name),
                    let status = try? directory.files.status(of: name, in: directory.descriptor), status.kind == .file
                else { return true }
                if isTemporary {
                    temporaries.append(Entry(name, status))
                } else {
                    entries.append(Entry(name, status))
                }
                return true
            }
        }
        self.entries = entries
        self.temporaries = temporaries
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
