internal import Glibc
package import SDDBase

/// The system calls that the caches on disk make, so that tests can make each of them fail. Names stand for files in
/// an open directory; no link is ever followed. Each call may block; any thread.
package protocol FileCalls: Sendable {
    func open(_ name: String, in directory: Int32, flags: Int32) throws(SystemError) -> Int32
    func close(_ descriptor: Int32) throws(SystemError)
    /// - Returns: how many bytes were read, which may be fewer than there is room for; 0 at the end.
    func read(
        _ descriptor: Int32, at offset: Int64, into place: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int
    /// - Returns: how many bytes were written, which may be fewer.
    func write(_ descriptor: Int32, _ parts: [UnsafeRawBufferPointer]) throws(SystemError) -> Int
    func cut(_ descriptor: Int32, to size: Int64) throws(SystemError)
    func sync(_ descriptor: Int32, dataOnly: Bool) throws(SystemError)
    /// A private mapping for reading.
    func map(_ descriptor: Int32, length: Int) throws(SystemError) -> UnsafeMutableRawPointer
    /// - Returns: false when another open file has the lock. Never waits.
    func lock(_ descriptor: Int32) throws(SystemError) -> Bool
    /// Also for copies of the descriptor, such as a child has that the host forked meanwhile.
    func unlock(_ descriptor: Int32) throws(SystemError)
    func status(of descriptor: Int32) throws(SystemError) -> FileStatus
    func status(of name: String, in directory: Int32) throws(SystemError) -> FileStatus
    /// Times in microseconds since 1970; nil leaves that one as it is.
    func setTimes(of descriptor: Int32, used: Int64?, modified: Int64?) throws(SystemError)
    func setTimes(of name: String, in directory: Int32, used: Int64?, modified: Int64?) throws(SystemError)
    func rename(_ name: String, to newName: String, in directory: Int32) throws(SystemError)
    /// Gives a file another name as well, perhaps in another directory, if nothing has that name.
    func link(_ name: String, in directory: Int32, as newName: String, in newDirectory: Int32) throws(SystemError)
    func remove(_ name: String, in directory: Int32) throws(SystemError)
    func makeDirectory(_ name: String, in directory: Int32) throws(SystemError)
    /// Removes a directory if it is empty.
    func removeDirectory(_ name: String, in directory: Int32) throws(SystemError)
    func listing(_ directory: Int32) throws(SystemError) -> DirectoryListing
}

extension FileCalls {
    /// Each name in a directory but its own two, in no order, until `body` says false.
    func list(_ directory: Int32, _ body: (String) -> Bool) throws(SystemError) {
        let listing = try listing(directory)
        while let name = try listing.next() {
            if !body(name) { return }
        }
    }

    /// What is known of a name; nil where there is nothing of that name.
    func statusIfThere(of name: String, in directory: Int32) throws(SystemError) -> FileStatus? {
        do throws(SystemError) {
            return try status(of: name, in: directory)
        } catch {
            if error.errno == ENOENT { return nil }
            throw error
        }
    }

    /// - Returns: false where there was nothing of that name.
    @discardableResult
    func removeIfThere(_ name: String, in directory: Int32) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try remove(name, in: directory)
            return true
        } catch {
            if error.errno == ENOENT { return false }
            throw error
        }
    }
}

/// What is known of a file without opening it.
package struct FileStatus: Equatable, Sendable {
    package enum Kind: Sendable { case file, directory, other }

    package var kind: Kind
    package var size: Int64
    /// What the file takes of the disk, in bytes.
    package var allocated: Int64
    /// Microseconds since 1970.
    package var used: Int64
    package var modified: Int64
    package var device: UInt64
    package var number: UInt64
    package var links: UInt64
    package var owner: UInt32
    package var mode: UInt32

    package func isSameFile(as other: FileStatus) -> Bool { device == other.device && number == other.number }
}
