internal import Glibc
package import SDDBase

/// The names in a directory, in no order, read one at a time. Closed with the last reference. Use it on one thread at a
/// time.
package final class DirectoryListing {
    private let stream: OpaquePointer

    /// - Parameter stream: a stream from fdopendir(3), which this object now owns.
    init(_ stream: OpaquePointer) { self.stream = stream }

    deinit { closedir(stream) }

    /// Returns the next name other than "." and ".."; nil at the end.
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

    /// Returns the name of an entry. Safety: the entry lives until the next readdir, and its name ends with NUL.
    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
        return String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
    }
}
