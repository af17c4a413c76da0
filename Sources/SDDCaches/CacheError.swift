internal import SDDBase

/// Why a cache could not do what it was asked to. A miss is no error.
package enum CacheError: Error, Equatable, Sendable {
    /// A call to the system that failed: what was tried, and its errno.
    case system(Operation, errno: Int32)
    /// The application's own store has failed: what it was to do.
    case store(Operation)
    /// A directory that is not safe to use: of another user, open to others, or no directory.
    case unsafeDirectory
    /// An entry over the limit of the whole cache, or one that cannot be written down.
    case tooLarge
    /// No memory for what was to be read.
    case noMemory
    /// There is nothing to store.
    case nothing
    /// It waited to be written, and was given up: too much waited, or the cache was destroyed.
    case dropped

    package enum Operation: String, Sendable {
        case open, create, read, write, sync, rename, remove, list, lock
    }
}

extension CacheError {
    /// Makes a call to the system, and says what was tried if it fails.
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
