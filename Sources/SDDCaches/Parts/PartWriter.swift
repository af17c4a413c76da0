internal import Glibc
internal import SDDBase

/// Stores a body as it arrives, in case the download is interrupted. Each piece can be checked by itself, so that a
/// crash costs at most the last one. Blocking; one thread at a time.
package final class PartWriter: @unchecked Sendable {
    // Safety: the writer belongs to the transfer, which one thread uses at a time.
    private let descriptor: Int32
    private let name: String
    private let directory: CacheDirectory
    private let most: Int64
    /// The length of the file.
    private var length: Int64
    /// The length of the body so far.
    private var offset: Int64
    private var failure: CacheError?
    private var isClosed = false
    private let owner = getpid()

    private static let longestPiece = 1 << 20

    init(
        _ descriptor: Int32, _ name: String, _ directory: CacheDirectory, length: Int64, offset: Int64, most: Int64
    ) {
        self.descriptor = descriptor
        self.name = name
        self.directory = directory
        self.length = length
        self.offset = offset
        self.most = most
    }

    deinit { close() }

    /// Appends bytes to the part. After an error the part stays as it was and accepts no more.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(CacheError) {
        var rest = bytes
        while !rest.isEmpty {
            if let failure { throw failure }
            if isClosed { return }
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.longestPiece))
            do throws(CacheError) {
                try write(piece)
            } catch {
                failure = error
                try? directory.files.cut(descriptor, to: length)
                throw error
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
        }
    }

    private func write(_ piece: UnsafeRawBufferPointer) throws(CacheError) {
        let head = PartFormat.pieceHead(of: piece, at: offset)
        let added = Int64(head.count + piece.count)
        let (sum, overflow) = length.addingReportingOverflow(added)
        guard !overflow, sum <= most else { throw .tooLarge }
        guard let bytes = Bytes(head) else { throw .noMemory }
        try directory.files.writeAll(descriptor, [bytes.pointer, piece])
        length = sum
        offset += Int64(piece.count)
    }

    /// Closes the part and keeps it for the next download.
    package func close() {
        if isClosed { return }
        isClosed = true
        // A forked child has a copy of the descriptor but must not release the lock.
        if getpid() == owner { try? directory.files.unlock(descriptor) }
        try? directory.files.close(descriptor)
    }

    /// Removes the part: the body is complete, or the rest is not needed.
    package func discard() throws(CacheError) {
        if isClosed { return }
        defer { close() }
        let files = directory.files
        try CacheError.during(.remove) { () throws(SystemError) in
            let own = try files.status(of: descriptor)
            guard let named = try files.statusIfThere(of: name, in: directory.descriptor), named.isSameFile(as: own)
            else { return }
            try files.removeIfThere(name, in: directory.descriptor)
        }
    }
}
