internal import Glibc
internal import SDDBase

/// Reads the entries of one directory and trusts none of its files: a link, a pipe or another program's file is a miss.
/// A `nil` key accepts an entry of any key. Blocking; several threads at a time.
struct EntryReader {
    let directory: CacheDirectory
    /// See `DiskOptions`.
    let mapFrom: Int?

    private var files: any FileCalls { directory.files }

    /// An open file, which its owner must close.
    struct File {
        let descriptor: Int32
        let status: FileStatus
    }

    /// The file size from which the trailer is checked before memory for the body is allocated.
    private static let trailerFirstFrom = 1 << 20
    /// A length that most trailers do not exceed.
    private static let likelyTrailer = 4096
    /// The size of the pieces in which a body is checked without holding it in memory.
    private static let piece = 65_536

    // MARK: Files

    /// Opens a file; returns nil if there is none, or none that can be an entry.
    func open(_ name: String) throws(CacheError) -> File? {
        guard let descriptor = try descriptor(of: name) else { return nil }
        do throws(SystemError) {
            let status = try files.status(of: descriptor)
            if status.kind == .file { return File(descriptor: descriptor, status: status) }
        } catch {
            try? files.close(descriptor)
            throw .system(.read, errno: error.errno)
        }
        try? files.close(descriptor)
        return nil
    }

    func close(_ file: File) { try? files.close(file.descriptor) }

    private func descriptor(of name: String) throws(CacheError) -> Int32? {
        do throws(SystemError) {
            do throws(SystemError) {
                // The cache sets access times itself.
                return try files.open(name, in: directory.descriptor, flags: O_RDONLY | SystemFiles.keepsTimes)
            } catch {
                guard error.errno == EPERM else { throw error }
                return try files.open(name, in: directory.descriptor, flags: O_RDONLY)
            }
        } catch {
            switch error.errno {
            // No file, a link, or a socket.
            case ENOENT, ELOOP, ENXIO: return nil
            default: throw .system(.open, errno: error.errno)
            }
        }
    }

    // MARK: Entries

    /// Returns the whole entry, checked.
    func entry(in file: File, key: String?) throws(EntryFlaw) -> StoredEntry {
        guard let size = Int(exactly: file.status.size) else { throw .notOurs }
        guard size >= EntryTrailer.footerLength else { throw .damaged }
        // Memory is allocated only for a file that looks like an entry.
        if size >= Self.trailerFirstFrom { _ = try trailer(in: file, key: key) }
        let memory = try content(of: file, size: size)
        do throws(EntryFlaw) {
            let trailer = try Self.trailer(at: memory.bytes, size: file.status.size, key: key)
            let count = size - trailer.length
            guard XXH64.sum(of: UnsafeRawBufferPointer(rebasing: memory.bytes[..<count])) == trailer.value.bodySum
            else { throw .damaged }
            return StoredEntry(metadata: trailer.value.metadata, body: memory.give(count))
        } catch {
            memory.free()
            throw error
        }
    }

    /// Returns the trailer behind the body. The body is not checked.
    func trailer(in file: File, key: String?) throws(EntryFlaw) -> EntryTrailer {
        var wanted = Self.likelyTrailer
        while true {
            guard let tail = FileMemory(size: Int(max(0, min(Int64(wanted), file.status.size)))) else { throw .notOurs }
            defer { tail.free() }
            try fill(tail.place, from: file, at: file.status.size - Int64(tail.size))
            let length = try EntryTrailer.length(ofFileEndingWith: tail.bytes)
            if length <= tail.size {
                return try Self.trailer(at: tail.bytes, size: file.status.size, key: key).value
            }
            // The next attempt uses the length given in the footer, unless the file is shorter.
            guard Int64(length) <= file.status.size else { throw .damaged }
            wanted = length
        }
    }

    /// Whether the file ends as an entry does: also one that is damaged or of another version, and one without content,
    /// as a crash of the system may leave.
    func endsLikeEntry(_ file: File) -> Bool {
        let size = Int(max(0, min(Int64(EntryTrailer.footerLength), file.status.size)))
        guard size > 0 else { return true }
        guard let tail = FileMemory(size: size) else { return false }
        defer { tail.free() }
        return (try? fill(tail.place, from: file, at: file.status.size - Int64(size))) != nil
            && EntryTrailer.hasMagic(atEndOf: tail.bytes)
    }

    /// Checks the body against its trailer without holding it in memory.
    func checkBody(of file: File, trailer: EntryTrailer) throws(EntryFlaw) {
        guard let end = Int64(exactly: trailer.bodyLength) else { throw .damaged }
        guard let memory = FileMemory(size: Self.piece) else { throw .notOurs }
        defer { memory.free() }
        var sum = XXH64()
        var offset: Int64 = 0
        // All pieces except the last are whole stripes.
        while end - offset > Int64(Self.piece) {
            try fill(memory.place, from: file, at: offset)
            offset += Int64(sum.consume(memory.bytes))
        }
        let last = UnsafeMutableRawBufferPointer(rebasing: memory.place[..<Int(end - offset)])
        try fill(last, from: file, at: offset)
        let taken = sum.consume(UnsafeRawBufferPointer(last))
        guard sum.finish(UnsafeRawBufferPointer(rebasing: last[taken...])) == trailer.bodySum else { throw .damaged }
    }

    /// Decodes the trailer at the end of `bytes`, which are the last bytes of a file of this size.
    private static func trailer(
        at bytes: UnsafeRawBufferPointer, size: Int64, key: String?
    ) throws(EntryFlaw) -> (value: EntryTrailer, length: Int) {
        let length = try EntryTrailer.length(ofFileEndingWith: bytes)
        guard length <= bytes.count else { throw .damaged }
        let trailer = try EntryTrailer(UnsafeRawBufferPointer(rebasing: bytes.suffix(length)), key: key)
        guard Int64(exactly: trailer.bodyLength) == size - Int64(length) else { throw .damaged }
        return (trailer, length)
    }

    // MARK: Bytes

    /// Returns the whole content of a file, unchecked. The caller must free it.
    func content(of file: File) throws(EntryFlaw) -> FileMemory {
        guard let size = Int(exactly: file.status.size), size >= 0 else { throw .notOurs }
        return try content(of: file, size: size)
    }

    private func content(of file: File, size: Int) throws(EntryFlaw) -> FileMemory {
        if let mapFrom, size >= mapFrom {
            guard let base = try? files.map(file.descriptor, length: size) else { throw .notOurs }
            return FileMemory(base: base, size: size, capacity: size, isMapped: true)
        }
        guard let memory = FileMemory(size: size) else { throw .notOurs }
        do throws(EntryFlaw) {
            try fill(memory.place, from: file, at: 0)
            return memory
        } catch {
            memory.free()
            throw error
        }
    }

    private func fill(
        _ place: UnsafeMutableRawBufferPointer, from file: File, at start: Int64
    ) throws(EntryFlaw) {
        var done = 0
        while done < place.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: place[done...])
            do throws(SystemError) {
                let count = try files.read(file.descriptor, at: start + Int64(done), into: rest)
                // Another program has truncated the file meanwhile.
                if count == 0 { break }
                done += min(count, rest.count)
            } catch {
                throw .failed(.system(.read, errno: error.errno))
            }
        }
        if done < place.count { throw .damaged }
    }
}
