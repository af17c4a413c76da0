internal import CSystem
internal import Glibc
package import SDDBase

/// What is kept with an entry's body. The cache understands the key and the times; the rest is the caller's.
package struct EntryMetadata: Equatable, Sendable {
    package var key: String
    /// What the HTTP cache knows of the response, or for which request fields it is; opaque here.
    package var http: [UInt8]
    /// The host's own bytes.
    package var user: [UInt8]
    /// The number of the picture's format.
    package var format: Int32
    /// Microseconds since 1970. `write` sets it.
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

/// An entry that was read and found whole.
package struct StoredEntry: Sendable {
    package let metadata: EntryMetadata
    package let body: Bytes
}

/// An entry as an open file, which stays what it is whatever becomes of the cache.
package struct OpenEntry: Sendable {
    package let metadata: EntryMetadata
    /// For reading only; whoever has it closes it.
    package let descriptor: Int32
    /// The body is the file's first bytes.
    package let size: Int64
}

extension OpenEntry {
    /// A file in memory, memfd_create(2), with a copy of the body.
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
