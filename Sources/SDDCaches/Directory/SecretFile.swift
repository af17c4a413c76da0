internal import Glibc
internal import SDDBase

/// The secret key of a cache's directory, in the file `key`: created by the first process that needs it, shared by all
/// processes, and useless elsewhere. Marks made with it replace the values of request fields in entries, which could
/// identify the caller.
enum SecretFile {
    static let name = "key"
    private static let attempts = 4

    /// Returns the key of the directory. If the directory cannot store one, returns the key of this process; no other
    /// process then finds the entries stored with it.
    static func key(in directory: CacheDirectory) -> SecretKey {
        for _ in 0..<attempts {
            if let key = read(directory) { return key }
            guard make(SecretKey.randomBytes(), directory) else { break }
        }
        return .process
    }

    /// Stores a key of this process in a directory that was made again, unless it has one.
    static func keep(_ key: SecretKey, in directory: CacheDirectory) {
        if read(directory) == nil { _ = make(key.bytes, directory) }
    }

    /// Returns the key that the directory has.
    static func read(_ directory: CacheDirectory) -> SecretKey? {
        let files = directory.files
        guard let descriptor = try? files.open(name, in: directory.descriptor, flags: O_RDONLY) else { return nil }
        defer { try? files.close(descriptor) }
        // A key that others could read protects nothing.
        guard let status = try? files.status(of: descriptor), status.kind == .file, status.owner == geteuid(),
            status.mode & 0o077 == 0, status.size == Int64(SecretKey.byteCount)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: SecretKey.byteCount)
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes { bytes in
                try? files.read(
                    descriptor, at: Int64(filled), into: UnsafeMutableRawBufferPointer(rebasing: bytes[filled...]))
            }
            guard let count, count > 0 else { return nil }
            filled += count
        }
        return SecretKey(bytes)
    }

    /// Creates the file completely or not at all. If several processes create one, the first wins, and all read its
    /// key.
    /// - Returns: whether to read the file again.
    private static func make(_ key: [UInt8], _ directory: CacheDirectory) -> Bool {
        let files = directory.files
        let temporary = TemporaryName.make()
        guard let bytes = Bytes(key) else { return false }
        do throws(SystemError) {
            let descriptor = try files.open(
                temporary, in: directory.descriptor, flags: O_WRONLY | O_CREAT | O_EXCL)
            defer { try? files.remove(temporary, in: directory.descriptor) }
            let isWritten = (try? files.writeAll(descriptor, [bytes.pointer])) != nil
            try files.close(descriptor)
            guard isWritten else { return false }
            return try publish(temporary, directory)
        } catch {
            return false
        }
    }

    private static func publish(_ temporary: String, _ directory: CacheDirectory) throws(SystemError) -> Bool {
        let files = directory.files
        do throws(SystemError) {
            try files.link(temporary, in: directory.descriptor, as: name, in: directory.descriptor)
        } catch {
            // Another process was faster, or the file in its place is not a key, or the file system has no hard links.
            if error.errno == EEXIST, read(directory) != nil { return true }
            try files.rename(temporary, to: name, in: directory.descriptor)
        }
        return true
    }
}
