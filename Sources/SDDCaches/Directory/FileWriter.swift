internal import Glibc
internal import SDDBase

/// Writes a file completely or not at all: under a temporary name in the same directory, then renamed. An existing file
/// stays until then. Blocking; several threads at a time.
struct FileWriter {
    let directory: CacheDirectory
    var sync = DiskOptions.SyncPolicy.none
    /// The access and modification time to set, in microseconds; nil means the system's.
    var time: Int64?

    private var files: any FileCalls { directory.files }

    /// - Parameter beforeRename: called once the file is complete under its temporary name.
    /// - Returns: the status of the file, with the bytes it takes on disk.
    func write(
        _ parts: [UnsafeRawBufferPointer], as name: String, beforeRename: () throws(CacheError) -> Void = {}
    ) throws(CacheError) -> FileStatus {
        let temporary = TemporaryName.make()
        let descriptor = try CacheError.during(.create) { () throws(SystemError) in
            try files.open(temporary, in: directory.descriptor, flags: O_WRONLY | O_CREAT | O_EXCL)
        }
        do throws(CacheError) {
            let status = try fill(descriptor, parts)
            try beforeRename()
            try CacheError.during(.rename) { () throws(SystemError) in
                try files.rename(temporary, to: name, in: directory.descriptor)
            }
            if sync == .full { try self.sync(directory.descriptor, dataOnly: false) }
            return status
        } catch {
            try? files.remove(temporary, in: directory.descriptor)
            throw error
        }
    }

    /// Writes the parts and closes the file.
    private func fill(_ descriptor: Int32, _ parts: [UnsafeRawBufferPointer]) throws(CacheError) -> FileStatus {
        let status: FileStatus
        do throws(CacheError) {
            try files.writeAll(descriptor, parts)
            try CacheError.during(.write) { () throws(SystemError) in
                if let time { try files.setTimes(of: descriptor, used: time, modified: time) }
            }
            if sync != .none { try self.sync(descriptor, dataOnly: sync == .data) }
            status = try CacheError.during(.write) { () throws(SystemError) in try files.status(of: descriptor) }
        } catch {
            try? files.close(descriptor)
            throw error
        }
        // A network file system may report a write error only here.
        try CacheError.during(.write) { () throws(SystemError) in try files.close(descriptor) }
        return status
    }

    private func sync(_ descriptor: Int32, dataOnly: Bool) throws(CacheError) {
        try CacheError.during(.sync) { () throws(SystemError) in try files.sync(descriptor, dataOnly: dataOnly) }
    }
}

extension FileCalls {
    /// Writes all of the parts.
    func writeAll(_ descriptor: Int32, _ parts: [UnsafeRawBufferPointer]) throws(CacheError) {
        var rest = parts.filter { !$0.isEmpty }
        while !rest.isEmpty {
            var written = try CacheError.during(.write) { () throws(SystemError) in try write(descriptor, rest) }
            guard written > 0 else { throw .system(.write, errno: EIO) }
            while let first = rest.first, written >= first.count {
                written -= first.count
                rest.removeFirst()
            }
            if let first = rest.first { rest[0] = UnsafeRawBufferPointer(rebasing: first[max(written, 0)...]) }
        }
    }
}
