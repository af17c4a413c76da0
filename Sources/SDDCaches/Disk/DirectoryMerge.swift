internal import Glibc
internal import SDDBase

/// Moves the entries of another cache's directory into a store, file by file. If the store already has an entry with
/// the same key, it keeps its own and the other one is removed. If a merge is interrupted, each entry is in one of the
/// two directories, and the next merge continues. Blocking: some 50 microseconds for each entry that stays on its file
/// system, and a copy of the bytes for the others.
package struct DirectoryMerge {
    private let store: DiskStore
    private let path: String
    private let other: CacheDirectory
    private let reader: EntryReader
    /// Whether a cache has been in the other directory.
    private let isOfCache: Bool
    private var failure: CacheError?
    private var moved: Int64 = 0

    private var files: any FileCalls { other.files }

    package init(of path: String, into store: DiskStore) throws(CacheError) {
        self.store = store
        self.path = path
        other = try CacheDirectory.open(path, files: store.directory.files)
        isOfCache = SecretFile.read(other) != nil
        if !isOfCache { try DirectoryOwner.check(other) }
        reader = EntryReader(directory: other, mapFrom: nil)
    }

    /// Whether the other directory is the store's own.
    package func isOwnDirectory() throws(CacheError) -> Bool {
        try CacheError.during(.open) { () throws(SystemError) in
            try files.status(of: other.descriptor)
                .isSameFile(as: files.status(of: store.directory.descriptor))
        }
    }

    /// Moves all entries, and removes the directory if nothing else is in it. If an entry fails, the others are still
    /// moved and the directory stays.
    /// - Parameter isWanted: returns whether an entry can still be found under its key; an entry that cannot is
    ///   removed.
    /// - Returns: the number of entries moved.
    package mutating func run(where isWanted: (String) -> Bool) throws(CacheError) -> Int64 {
        let entries = try DirectoryScan.whole(other).entries
        if entries.isEmpty, !isOfCache {
            // The rest of a merge that ended here, or an empty directory. One with files of another program stays.
            try? files.removeDirectory(path, in: AT_FDCWD)
            return 0
        }
        // The ledger's totals are wrong from the first entry on. After a failure, the next cache that opens the
        // directory counts again.
        remove(DiskLedger.name)
        for entry in entries {
            do throws(CacheError) {
                try merge(entry, isWanted)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        removeDirectory()
        return moved
    }

    private mutating func merge(_ entry: DirectoryScan.Entry, _ isWanted: (String) -> Bool) throws(CacheError) {
        guard let file = try reader.open(entry.name) else { return }
        defer { reader.close(file) }
        do throws(EntryFlaw) {
            let metadata = try reader.trailer(in: file, key: nil).metadata
            let name = EntryName(key: metadata.key)
            guard name.full == entry.name || name.other == entry.name else { return }
            if isWanted(metadata.key), try take(file, entry, metadata.key) { moved += 1 }
        } catch {
            switch error {
            case .failed(let failure): throw failure
            case .notOurs: return
            case .damaged: break
            }
        }
        try CacheError.during(.remove) { () throws(SystemError) in
            // A cache that is open there all the same may have stored another entry under the name meanwhile.
            guard let now = try files.statusIfThere(of: entry.name, in: other.descriptor),
                now.isSameFile(as: file.status)
            else { return }
            try files.removeIfThere(entry.name, in: other.descriptor)
        }
    }

    /// Takes over one entry, by a link or as a copy.
    /// - Returns: false if the store has an entry of that key.
    private func take(
        _ file: EntryReader.File, _ entry: DirectoryScan.Entry, _ key: String
    ) throws(EntryFlaw) -> Bool {
        do throws(CacheError) {
            if try store.hasOwnEntry(key) { return false }
            if try store.adopt(entry, from: other, key: key) { return true }
            // Another thread may have stored an entry meanwhile.
            if try store.hasOwnEntry(key) { return false }
        } catch {
            throw .failed(error)
        }
        let whole = try reader.entry(in: file, key: key)
        do throws(CacheError) {
            try store.write(whole.metadata, body: whole.body)
        } catch {
            throw .failed(error)
        }
        store.setDates(of: key, used: entry.used, modified: entry.modified)
        return true
    }

    // MARK: - The empty directory

    /// Removes the files other than entries that a cache has in its directory, then the directory. A file of another
    /// program keeps the directory from being removed.
    private func removeDirectory() {
        // The key shows that the directory is of a cache, so it goes last.
        let areGone = [
            removeDirectory("locks", where: DownloadLocks.isName), removeDirectory("parts", where: PartStore.isName),
            remove(DiskLedger.name), remove(TrimLock.name),
        ]
        guard areGone.allSatisfy({ $0 }), remove(SecretFile.name) else { return }
        try? files.removeDirectory(path, in: AT_FDCWD)
    }

    /// - Returns: whether it is gone.
    private func removeDirectory(_ name: String, where isOwn: (String) -> Bool) -> Bool {
        let directory: CacheDirectory
        do throws(CacheError) {
            directory = try CacheDirectory.open(name, in: other.descriptor, files: files)
        } catch {
            return error == .system(.open, errno: ENOENT)
        }
        var names: [String] = []
        try? files.list(directory.descriptor) {
            names.append($0)
            return true
        }
        for name in names where isOwn(name) { try? files.remove(name, in: directory.descriptor) }
        return (try? files.removeDirectory(name, in: other.descriptor)) != nil
    }

    /// - Returns: whether it is gone.
    @discardableResult
    private func remove(_ name: String) -> Bool {
        (try? files.removeIfThere(name, in: other.descriptor)) != nil
    }
}

extension DiskStore {
    /// Whether there is an entry with an undamaged trailer, not counting read-only directories.
    fileprivate func hasOwnEntry(_ key: String) throws(CacheError) -> Bool {
        guard hasFiles else { return try contains(key) }
        let name = EntryName(key: key)
        let reader = EntryReader(directory: directory, mapFrom: nil)
        for name in [name.full, name.other].compactMap({ $0 }) {
            guard let file = try reader.open(name) else { continue }
            defer { reader.close(file) }
            if (try? reader.trailer(in: file, key: key)) != nil { return true }
        }
        return false
    }

    /// Links an entry's file into this directory.
    /// - Returns: false if that is impossible: the directories are on two file systems, the name is taken, or this
    ///   store's entries are not files.
    fileprivate func adopt(
        _ entry: DirectoryScan.Entry, from other: CacheDirectory, key: String
    ) throws(CacheError) -> Bool {
        guard hasFiles else { return false }
        let name = EntryName(key: key).full
        let change = Change(name, in: self)
        do throws(SystemError) {
            try directory.files.link(entry.name, in: other.descriptor, as: name, in: directory.descriptor)
        } catch {
            return false
        }
        change.record(DiskTotals(bytes: entry.allocated, count: 1))
        return true
    }

    fileprivate func setDates(of key: String, used: Int64, modified: Int64) {
        guard hasFiles else { return }
        try? directory.files.setTimes(
            of: EntryName(key: key).full, in: directory.descriptor, used: used, modified: modified)
    }
}
