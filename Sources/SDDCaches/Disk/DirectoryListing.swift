internal import Glibc
package import SDDBase

/// The names in a directory, in no order, as far as they have been read. Closed with the last reference. One thread at a
/// time.
package final class DirectoryListing {
    private let stream: OpaquePointer

    /// - Parameter stream: what fdopendir(3) gave; this object's from now on.
    init(_ stream: OpaquePointer) { self.stream = stream }

    deinit { closedir(stream) }

    /// Each name but the directory's own two; nil at the end.
    package func next() throws(SystemError) -> String? {
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw SystemError(errno: errno) }
                return nil
            }
            let name = Self.name(of: entry)
            if name != "." && name != ".." { return name }
        }
    }

    /// Safety: the entry lives until the next readdir, and its name ends with a zero.
    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
        return String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
    }
}
