internal import Glibc
package import SDDBase

/// The stored beginning of a body whose download was interrupted.
package struct StoredPart: Sendable {
    package let validator: [UInt8]
    /// The body's first bytes.
    package let body: Bytes
    let name: String
    /// The undamaged length of the file; the bytes behind it are damaged.
    let goodLength: Int64
    let status: FileStatus
}

/// Parts of interrupted downloads, each in a file beside the cache, so that a later download can resume, also in
/// another process and after a crash of this one. Blocking; several threads at a time.
package final class PartStore: Sendable {
    private let directory: CacheDirectory
    private let time: any TimeSource
    private var files: any FileCalls { directory.files }
    private static let suffix = ".part"

    init(_ directory: CacheDirectory, time: any TimeSource) {
        self.directory = directory
        self.time = time
    }

    /// Makes the directory again if it was removed.
    func makeAgain() throws(CacheError) { try directory.makeAgain() }

    /// Whether a file in the directory is a part, or one that is being written.
    static func isName(_ name: String) -> Bool { MD5.begins(name, before: suffix) || TemporaryName.isOne(name) }

    private static func name(_ key: String) -> String { MD5.hex(of: key) + suffix }

    /// Returns the undamaged part of a key; nil if there is none.
    package func open(_ key: String) throws(CacheError) -> StoredPart? {
        let name = Self.name(key)
        let reader = EntryReader(directory: directory, mapFrom: nil)
        guard let file = try reader.open(name) else { return nil }
        defer { reader.close(file) }
        do throws(EntryFlaw) {
            let memory = try reader.content(of: file)
            defer { memory.free() }
            // The file has another version or is damaged: the next part replaces it.
            guard let reading = PartFormat.Reading(memory.bytes, key: key) else { return nil }
            let body = ByteBuilder()
            guard body.reserve(reading.bodyLength) else { return nil }
            for piece in reading.pieces {
                guard body.append(memory.base + piece.lowerBound, count: piece.count) else { return nil }
            }
            return StoredPart(
                validator: reading.validator, body: body.take(), name: name,
                goodLength: Int64(reading.goodLength), status: file.status)
        } catch {
            if case .failed(let failure) = error { throw failure }
            return nil
        }
    }

    /// Opens a part for appending and truncates its damaged end.
    /// - Returns: nil if another writer has it open, or it has changed.
    package func resume(_ part: StoredPart, mostBytes: Int64) throws(CacheError) -> PartWriter? {
        guard let descriptor = try openForWriting(part.name) else { return nil }
        let writer = PartWriter(
            descriptor, part.name, directory, length: part.goodLength, offset: Int64(part.body.count), most: mostBytes)
        let isGood = try CacheError.during(.write) { () throws(SystemError) in
            guard try files.lock(descriptor) else { return false }
            let now = try files.status(of: descriptor)
            guard now.isSameFile(as: part.status), now.links > 0, now.size >= part.goodLength else { return false }
            try files.cut(descriptor, to: part.goodLength)
            return true
        }
        return isGood ? writer : nil
    }

    private func openForWriting(_ name: String) throws(CacheError) -> Int32? {
        do throws(SystemError) {
            return try files.open(name, in: directory.descriptor, flags: O_RDWR | O_APPEND)
        } catch {
            if error.errno == ENOENT || error.errno == ELOOP { return nil }
            throw .system(.open, errno: error.errno)
        }
    }

    /// Begins a part and replaces an existing one.
    /// - Parameter validator: the data that lets the server tell whether the rest belongs to the same body; opaque
    ///   here.
    package func begin(_ key: String, validator: [UInt8], mostBytes: Int64) throws(CacheError) -> PartWriter {
        guard let head = PartFormat.head(key: key, validator: validator) else { throw .tooLarge }
        guard let bytes = Bytes(head) else { throw .noMemory }
        let name = Self.name(key)
        let temporary = TemporaryName.make()
        let descriptor = try CacheError.during(.create) { () throws(SystemError) in
            try files.open(temporary, in: directory.descriptor, flags: O_RDWR | O_APPEND | O_CREAT | O_EXCL)
        }
        let writer = PartWriter(
            descriptor, name, directory, length: Int64(head.count), offset: 0, most: mostBytes)
        do throws(CacheError) {
            try files.writeAll(descriptor, [bytes.pointer])
            try CacheError.during(.rename) { () throws(SystemError) in
                _ = try files.lock(descriptor)
                try files.rename(temporary, to: name, in: directory.descriptor)
            }
        } catch {
            try? files.remove(temporary, in: directory.descriptor)
            throw error
        }
        return writer
    }

    package func remove(_ key: String) throws(CacheError) {
        _ = try CacheError.during(.remove) { () throws(SystemError) in
            try files.removeIfThere(Self.name(key), in: directory.descriptor)
        }
    }

    // MARK: Limits

    /// Removes all parts; a failure to remove one does not keep the others.
    func clear() throws(CacheError) {
        var failure: CacheError?
        for (name, _) in try scan() { remove(file: name, &failure) }
        if let failure { throw failure }
    }

    /// Removes expired parts, then the oldest until the rest is within the limit. A writer of a removed part continues,
    /// but its data is lost.
    func trim(limits: DiskLimits, now: Int64) throws(CacheError) {
        var left: Int64 = 0
        var failure: CacheError?
        for (name, status) in try scan().sorted(by: { $0.1.modified > $1.1.modified }) {
            let isOld = DiskAge.of(status.modified, at: now) >= limits.maxPartAge
            let (sum, isTooMuch) = left.addingReportingOverflow(status.allocated)
            let isOrphan = TemporaryName.isOne(name) && TemporaryName.isAbandoned(name, age: 0)
            if isOld || isTooMuch || sum > limits.maxPartBytes || isOrphan {
                remove(file: name, &failure)
            } else {
                left = sum
            }
        }
        if let failure { throw failure }
    }

    private func remove(file name: String, _ failure: inout CacheError?) {
        do throws(SystemError) {
            try files.removeIfThere(name, in: directory.descriptor)
        } catch {
            failure = .system(.remove, errno: error.errno)
        }
    }

    private func scan() throws(CacheError) -> [(String, FileStatus)] {
        try CacheError.during(.list) { () throws(SystemError) in
            let listing = try files.listing(directory.descriptor)
            var found: [(String, FileStatus)] = []
            while let name = try listing.next() {
                guard Self.isName(name),
                    let status = try files.statusIfThere(of: name, in: directory.descriptor), status.kind == .file
                else { continue }
                found.append((name, status))
            }
            return found
        }
    }
}
