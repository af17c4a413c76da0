internal import Glibc
internal import SDDBase

/// Writes down a body as it comes, for the case that the rest does not. Each piece is good by itself, so that a crash
/// costs the last one at most. Blocking; one thread at a time.
package final class PartWriter: @unchecked Sendable {
    // Safety: whoever has the transfer has the writer.
    private let descriptor: Int32
    private let name: String
    private let directory: CacheDirectory
    private let most: Int64
    /// Of the file.
    private var length: Int64
    /// Of the body.
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

    /// After an error the part stays what it was, and nothing more is taken.
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

    /// The part stays, for the next download.
    package func close() {
        if isClosed { return }
        isClosed = true
        // A forked child has a copy, and no say.
        if getpid() == owner { try? directory.files.unlock(descriptor) }
        try? directory.files.close(descriptor)
    }

    /// The body is whole, or nobody will want the rest.
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
