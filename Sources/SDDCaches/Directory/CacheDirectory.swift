internal import Glibc
internal import SDDBase

/// An open directory that only this user may write to. Names in it keep their meaning even if its path changes. Closed
/// with the last reference. Thread-safe.
final class CacheDirectory: Sendable {
    let descriptor: Int32
    let files: any FileCalls

    private init(_ descriptor: Int32, _ files: any FileCalls) {
        self.descriptor = descriptor
        self.files = files
    }

    deinit { try? files.close(descriptor) }

    /// Opens a directory; creates it and its missing parents first.
    static func make(_ path: String, files: any FileCalls) throws(CacheError) -> CacheDirectory {
        do throws(CacheError) {
            return try open(path, files: files)
        } catch {
            guard error == .system(.open, errno: ENOENT) else { throw error }
        }
        var end = path.startIndex
        while end < path.endIndex {
            end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
            try makeOne(String(path[..<end]), in: AT_FDCWD, files)
        }
        return try open(path, files: files)
    }

    /// Opens an existing directory.
    /// - Parameter isRead: true if the directory is only read and may belong to the system.
    static func open(
        _ path: String, in parent: Int32 = AT_FDCWD, isRead: Bool = false, files: any FileCalls
    ) throws(CacheError) -> CacheDirectory {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .system(.open, errno: EINVAL) }
        do throws(SystemError) {
            let descriptor = try files.open(path, in: parent, flags: O_RDONLY | O_DIRECTORY)
            let directory = CacheDirectory(descriptor, files)
            let status = try files.status(of: descriptor)
            // If others could write to the directory, they could fill it with links and entries of their own.
            let isSafe = status.owner == geteuid() || isRead && status.owner == 0
            if isSafe && status.mode & 0o022 == 0 { return directory }
        } catch {
            // A symbolic link is refused in the same way as a directory of another user. With O_DIRECTORY, open(2)
            // returns the same error for a link as for a file.
            let isLink = (try? files.status(of: path, in: parent))?.kind == .other
            guard error.errno == ELOOP || error.errno == ENOTDIR && isLink else {
                throw .system(.open, errno: error.errno)
            }
        }
        throw .unsafeDirectory
    }

    /// Creates a directory in this one if it is missing, and opens it.
    func making(_ name: String) throws(CacheError) -> CacheDirectory {
        try Self.makeOne(name, in: descriptor, files)
        return try Self.open(name, in: descriptor, files: files)
    }

    private static func makeOne(_ name: String, in directory: Int32, _ files: any FileCalls) throws(CacheError) {
        do throws(SystemError) {
            try files.makeDirectory(name, in: directory)
        } catch {
            // Opening it later shows whether it is a directory and ours. "/" and the like may be read-only.
            guard error.errno == EEXIST || error.errno == EROFS || error.errno == EISDIR else {
                throw .system(.create, errno: error.errno)
            }
        }
    }
}
