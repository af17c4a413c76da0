import SDDBase

/// Merging of another cache's directory.
extension DiskCache {
    package enum Merged: Equatable, Sendable {
        case moved(Int64)
        /// The directory is this cache's own.
        case ownDirectory
        case failed(CacheError)
    }

    /// Moves the entries of another cache's directory into this one; see `DirectoryMerge`. Waits until that is done;
    /// callable from any thread.
    package func merge(_ path: String, where isWanted: (String) -> Bool) -> Merged {
        do throws(CacheError) {
            var merge = try DirectoryMerge(of: path, into: store)
            if try merge.isOwnDirectory() { return .ownDirectory }
            defer { trimSoon() }
            return .moved(try merge.run(where: isWanted))
        } catch {
            counters.failed(error)
            return .failed(error)
        }
    }
}
