internal import SDDBase

/// The reason why a cache operation failed. A miss is not an error.
package enum CacheError: Error, Equatable, Sendable {
    /// A system call failed: the operation and its errno.
    case system(Operation, errno: Int32)
    /// The application's own store failed: the operation.
    case store(Operation)
    /// The directory is not safe to use: it belongs to another user, is writable by others, or is not a directory.
    case unsafeDirectory
    /// The directory is not that of a cache: it has a file of another program, with this name, which is one of an entry.
    case foreignFile(String)
    /// The entry exceeds the limit of the whole cache, or cannot be encoded.
    case tooLarge
    /// There is no memory for the data to be read.
    case noMemory
    /// There is nothing to store.
    case nothing
    /// A write that waited was dropped: too many were waiting, or the cache was destroyed.
    case dropped

    package enum Operation: String, Sendable {
        case open, create, read, write, sync, rename, remove, list, lock
    }
}

extension CacheError {
    /// Makes a system call and adds the operation to its error.
    static func during<Result>(
        _ operation: Operation, _ body: () throws(SystemError) -> Result
    ) throws(CacheError) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw .system(operation, errno: error.errno)
        }
    }
}
