internal import CSystem
internal import Glibc
package import SDDBase

/// The metadata stored with an entry's body. The cache interprets the key and the times; the rest is up to the caller.
package struct EntryMetadata: Equatable, Sendable {
    package var key: String
    /// The HTTP cache's record of the response, or the request fields it was selected by; opaque here.
    package var http: [UInt8]
    /// The application's own bytes.
    package var user: [UInt8]
    /// The id of the image format.
    package var format: Int32
    /// The time the entry was stored, in microseconds since 1970. `write` sets it.
    package var storedMicroseconds: Int64

    package init(
        key: String, http: [UInt8] = [], user: [UInt8] = [], format: Int32 = 0, storedMicroseconds: Int64 = 0
    ) {
        self.key = key
        self.http = http
        self.user = user
        self.format = format
        self.storedMicroseconds = storedMicroseconds
    }
}

/// An entry that was read and found undamaged.
package struct StoredEntry: Sendable {
    package let metadata: EntryMetadata
    package let body: Bytes
}

/// An entry as an open file, which stays unchanged whatever happens to the cache.
package struct OpenEntry: Sendable {
    package let metadata: EntryMetadata
    /// A read-only descriptor, which the owner of this value must close.
    package let descriptor: Int32
    /// The length of the body, which is at the beginning of the file.
    package let size: Int64
}

extension OpenEntry {
    /// Copies the body to a file in memory, memfd_create(2).
    init(copying entry: StoredEntry) throws(CacheError) {
        let descriptor = sddsys_memory_file("sdd-entry")
        guard descriptor >= 0 else { throw .system(.open, errno: errno) }
        let body = entry.body.pointer
        let failure = body.baseAddress.map { writeAll($0, count: body.count, to: descriptor) } ?? 0
        guard failure == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            close(descriptor)
            throw .system(.write, errno: failure)
        }
        self.init(metadata: entry.metadata, descriptor: descriptor, size: Int64(body.count))
    }
}
