internal import Glibc
internal import SDDBase

/// Reads entries of one directory, and believes nothing of them: a link, a pipe or another program's file is a miss.
/// Blocking; several threads at a time.
struct EntryReader {
    let directory: CacheDirectory
    /// See `DiskOptions`.
    let mapFrom: Int?

    private var files: any FileCalls { directory.files }

    /// A file that is open. Whoever has it closes it.
    struct File {
        let descriptor: Int32
        let status: FileStatus
    }

    /// From this size on the trailer is looked at before there is memory for the body.
    private static let trailerFirstFrom = 1 << 20
    /// What most trailers are shorter than.
    private static let likelyTrailer = 4096
    /// In which a body is looked through that nobody wants in memory.
    private static let piece = 65_536

    // MARK: Files

    /// Nil when there is none, or none that may be an entry.
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
                // When it was used is for us to say.
                return try files.open(name, in: directory.descriptor, flags: O_RDONLY | SystemFiles.keepsTimes)
            } catch {
                guard error.errno == EPERM else { throw error }
                return try files.open(name, in: directory.descriptor, flags: O_RDONLY)
            }
        } catch {
            switch error.errno {
            // Nothing there; a link; a socket.
            case ENOENT, ELOOP, ENXIO: return nil
            default: throw .system(.open, errno: error.errno)
            }
        }
    }

    // MARK: Entries

    /// All of it, checked.
    func entry(in file: File, key: String?) throws(EntryFlaw) -> StoredEntry {
        guard let size = Int(exactly: file.status.size) else { throw .notOurs }
        guard size >= EntryTrailer.footerLength else { throw .damaged }
        // Not even memory for what does not look like an entry.
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

    /// What stands behind the body, which is not looked at.
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
            // As long as it says, or the file is too short for it.
            guard Int64(length) <= file.status.size else { throw .damaged }
            wanted = length
        }
    }

    /// Whether the body is what its trailer says, without having it in memory.
    func checkBody(of file: File, trailer: EntryTrailer) throws(EntryFlaw) {
        guard let end = Int64(exactly: trailer.bodyLength) else { throw .damaged }
        guard let memory = FileMemory(size: Self.piece) else { throw .notOurs }
        defer { memory.free() }
        var sum = XXH64()
        var offset: Int64 = 0
        // Pieces are whole stripes, but for the last one.
        while end - offset > Int64(Self.piece) {
            try fill(memory.place, from: file, at: offset)
            offset += Int64(sum.consume(memory.bytes))
        }
        let last = UnsafeMutableRawBufferPointer(rebasing: memory.place[..<Int(end - offset)])
        try fill(last, from: file, at: offset)
        let taken = sum.consume(UnsafeRawBufferPointer(last))
        guard sum.finish(UnsafeRawBufferPointer(rebasing: last[taken...])) == trailer.bodySum else { throw .damaged }
    }

    /// The trailer at the end of some bytes, which are the last ones of a file of this size.
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

    /// All of a file, unchecked. Whoever has it lets it go.
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
                // Cut while it was read, by none of us.
                if count == 0 { break }
                done += min(count, rest.count)
            } catch {
                throw .failed(.system(.read, errno: error.errno))
            }
        }
        if done < place.count { throw .damaged }
    }
}
