internal import Glibc
internal import SDDBase

/// An open directory that only this user may write to. Names in it keep their meaning even if its path changes. Closed
/// with the last reference. Thread-safe.
final class CacheDirectory: Sendable {
    /// Where the directory was made, and is made again if it is removed.
    private enum Origin {
        case path(String)
        case child(String, CacheDirectory)
        /// It was only opened, and is never made.
        case opened
    }

    /// The number stays; it means another directory once this one had to be made again.
    let descriptor: Int32
    let files: any FileCalls
    private let origin: Origin

    private init(_ descriptor: Int32, _ files: any FileCalls, _ origin: Origin) {
        self.descriptor = descriptor
        self.files = files
        self.origin = origin
    }

    deinit { try? files.close(descriptor) }

    /// Opens a directory; creates it and its missing parents first.
    static func make(_ path: String, files: any FileCalls) throws(CacheError) -> CacheDirectory {
        do throws(CacheError) {
            return try open(path, origin: .path(path), files: files)
        } catch {
            guard error == .system(.open, errno: ENOENT) else { throw error }
        }
        var (end, isReadOnly) = (path.startIndex, false)
        while end < path.endIndex {
            end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
            do throws(CacheError) {
                isReadOnly = try !makeOne(String(path[..<end]), in: AT_FDCWD, files)
            } catch {
                throw error.onReadOnlySystem(isReadOnly)
            }
        }
        return try openMade(path, in: AT_FDCWD, isReadOnly: isReadOnly, .path(path), files)
    }

    /// Opens an existing directory.
    /// - Parameter isRead: true if the directory is only read and may belong to the system.
    static func open(
        _ path: String, in parent: Int32 = AT_FDCWD, isRead: Bool = false, files: any FileCalls
    ) throws(CacheError) -> CacheDirectory {
        try open(path, in: parent, isRead: isRead, origin: .opened, files: files)
    }

    private static func open(
        _ path: String, in parent: Int32 = AT_FDCWD, isRead: Bool = false, origin: Origin, files: any FileCalls
    ) throws(CacheError) -> CacheDirectory {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .system(.open, errno: EINVAL) }
        do throws(SystemError) {
            let descriptor = try files.open(path, in: parent, flags: O_RDONLY | O_DIRECTORY)
            let directory = CacheDirectory(descriptor, files, origin)
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
        let isReadOnly = try !Self.makeOne(name, in: descriptor, files)
        return try Self.openMade(name, in: descriptor, isReadOnly: isReadOnly, .child(name, self), files)
    }

    private static func openMade(
        _ path: String, in parent: Int32, isReadOnly: Bool, _ origin: Origin, _ files: any FileCalls
    ) throws(CacheError) -> CacheDirectory {
        do throws(CacheError) {
            return try open(path, in: parent, origin: origin, files: files)
        } catch {
            throw error.onReadOnlySystem(isReadOnly)
        }
    }

    /// - Returns: false if the file system is read-only; the directory may be there all the same.
    private static func makeOne(
        _ name: String, in directory: Int32, _ files: any FileCalls
    ) throws(CacheError) -> Bool {
        do throws(SystemError) {
            try files.makeDirectory(name, in: directory)
        } catch {
            // Opening it later shows whether it is a directory and ours. "/" and the like may be read-only.
            guard error.errno == EEXIST || error.errno == EROFS || error.errno == EISDIR else {
                throw .system(.create, errno: error.errno)
            }
            return error.errno != EROFS
        }
        return true
    }
}

// MARK: - A removed directory

extension CacheDirectory {
    /// Makes the directory again if it was removed, with the checks of opening. This object then means the new one, also
    /// for those who use it now. Several threads and processes may do so at once: all get the same directory.
    /// - Parameter prepare: called with the new directory before it takes the place of the removed one.
    /// - Returns: whether another directory was opened.
    @discardableResult
    func makeAgain(
        _ prepare: (CacheDirectory) throws(SystemError) -> Void = { _ in }
    ) throws(CacheError) -> Bool {
        let new: CacheDirectory
        switch origin {
        case .path(let path): new = try Self.make(path, files: files)
        case .child(let name, let parent): new = try parent.making(name)
        case .opened: return false
        }
        return try CacheError.during(.open) { () throws(SystemError) in
            let status = try files.status(of: new.descriptor)
            if let old = try? files.status(of: descriptor), old.isSameFile(as: status) { return false }
            try prepare(new)
            try files.replace(descriptor, by: new.descriptor)
            return true
        }
    }
}

extension CacheError {
    /// The error of a directory that is missing because nothing can be made on its file system.
    fileprivate func onReadOnlySystem(_ isReadOnly: Bool) -> CacheError {
        if isReadOnly, case .system(_, errno: ENOENT) = self { .system(.create, errno: EROFS) } else { self }
    }

    /// Whether a file could not be made since its directory is gone: removed, or of another life of a network's server.
    var isOfRemovedDirectory: Bool {
        switch self {
        case .system(_, errno: ENOENT), .system(_, errno: ESTALE): true
        default: false
        }
    }
}
