import SDDBase

/// Listing of the entries on disk.
extension DiskCache {
    /// Tells `list` what to do after it has shown an entry.
    package enum ListingStep: Sendable {
        case next, stop, remove
    }

    /// Calls `body` for each entry in the cache's directory, without a lock, and waits for the disk. An entry that
    /// cannot be read or removed does not end the listing. Callable from any thread but the cache's own.
    /// - Returns: the last failure.
    package func list(checkingBodies: Bool, _ body: (ListedEntry) -> ListingStep) -> CacheError? {
        var failure: CacheError?
        func failed(_ error: CacheError) {
            counters.failed(error)
            failure = error
        }
        do throws(CacheError) {
            var listing = try DiskListing(store, checksBodies: checkingBodies)
            while let found = try listing.next() {
                for file in found {
                    do throws(CacheError) {
                        guard let entry = try listing.look(at: file), !isHidden(entry) else { continue }
                        switch body(entry) {
                        case .next: break
                        case .stop: return failure
                        case .remove: if let error = removeListed(entry) { failed(error) }
                        }
                    } catch {
                        failed(error)
                    }
                }
            }
        } catch {
            failed(error)
        }
        return failure
    }

    /// Parts of a body are not shown: whoever copies or shows entries takes each for a complete body.
    private func isHidden(_ entry: ListedEntry) -> Bool { entry.metadata.map(StoredParts.areIn) ?? false }

    private func removeListed(_ entry: ListedEntry) -> CacheError? {
        // By the key, so that an entry that waits to be written is removed as well.
        if let key = entry.metadata?.key { return waitForChange { remove(key, then: $0) } }
        do throws(CacheError) {
            _ = try store.removeFile(entry.file, entry.status)
            return nil
        } catch {
            return error
        }
    }
}
