internal import Glibc
package import SDDBase

/// The system calls that the disk cache makes, so that tests can make each of them fail. Names refer to files in an
/// open directory; links are never followed. Each call may block; callable from any thread.
package protocol FileCalls: Sendable {
    func open(_ name: String, in directory: Int32, flags: Int32) throws(SystemError) -> Int32
    func close(_ descriptor: Int32) throws(SystemError)
    /// Lets a descriptor mean what another one means, at once, and closes what it meant before.
    func replace(_ descriptor: Int32, by other: Int32) throws(SystemError)
    /// - Returns: the number of bytes read, which may be fewer than fit; 0 at the end.
    func read(
        _ descriptor: Int32, at offset: Int64, into place: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int
    /// - Returns: the number of bytes written, which may be fewer.
    func write(_ descriptor: Int32, _ parts: [UnsafeRawBufferPointer]) throws(SystemError) -> Int
    func cut(_ descriptor: Int32, to size: Int64) throws(SystemError)
    func sync(_ descriptor: Int32, dataOnly: Bool) throws(SystemError)
    /// Maps the file privately for reading.
    func map(_ descriptor: Int32, length: Int) throws(SystemError) -> UnsafeMutableRawPointer
    /// - Returns: false if another open file has the lock. Never waits.
    func lock(_ descriptor: Int32) throws(SystemError) -> Bool
    /// Releases the lock, also for copies of the descriptor, such as that of a child that the application has forked.
    func unlock(_ descriptor: Int32) throws(SystemError)
    /// Takes a shared lock of another kind on one byte, whether the file has it or not, kept until the descriptor is closed.
    func lockShared(_ descriptor: Int32, byte: Int64) throws(SystemError)
    func unlockShared(_ descriptor: Int32, byte: Int64) throws(SystemError)
    /// Whether the file was opened a second time, by this process or another, and the byte is locked that way. Never
    /// waits where `isOnLocalDisk`.
    func isLockedElsewhere(_ descriptor: Int32, byte: Int64) throws(SystemError) -> Bool
    /// Whether the file's status and locks are known without another machine or process.
    func isOnLocalDisk(_ descriptor: Int32) -> Bool
    func status(of descriptor: Int32) throws(SystemError) -> FileStatus
    func status(of name: String, in directory: Int32) throws(SystemError) -> FileStatus
    /// Sets times in microseconds since 1970; nil leaves a time unchanged.
    func setTimes(of descriptor: Int32, used: Int64?, modified: Int64?) throws(SystemError)
    func setTimes(of name: String, in directory: Int32, used: Int64?, modified: Int64?) throws(SystemError)
    func rename(_ name: String, to newName: String, in directory: Int32) throws(SystemError)
    /// Adds another name for a file, perhaps in another directory, if that name is free.
    func link(_ name: String, in directory: Int32, as newName: String, in newDirectory: Int32) throws(SystemError)
    func remove(_ name: String, in directory: Int32) throws(SystemError)
    func makeDirectory(_ name: String, in directory: Int32) throws(SystemError)
    /// Removes a directory if it is empty.
    func removeDirectory(_ name: String, in directory: Int32) throws(SystemError)
    func listing(_ directory: Int32) throws(SystemError) -> DirectoryListing
}

extension FileCalls {
    /// Calls `body` with each name in a directory except "." and "..", in no order, until it returns false.
    func list(_ directory: Int32, _ body: (String) -> Bool) throws(SystemError) {
        let listing = try listing(directory)
        while let name = try listing.next() {
            if !body(name) { return }
        }
    }

    /// Returns the status of a name; nil if there is no such file.
    func statusIfThere(of name: String, in directory: Int32) throws(SystemError) -> FileStatus? {
        do throws(SystemError) {
            return try status(of: name, in: directory)
        } catch {
            if error.errno == ENOENT { return nil }
            throw error
        }
    }

    /// - Returns: false if there was no such file.
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

/// The status of a file, obtained without opening it.
package struct FileStatus: Equatable, Sendable {
    package enum Kind: Sendable { case file, directory, other }

    package var kind: Kind
    package var size: Int64
    /// The bytes that the file takes on disk.
    package var allocated: Int64
    /// The times of the last access and modification, in microseconds since 1970.
    package var used: Int64
    package var modified: Int64
    package var device: UInt64
    package var number: UInt64
    package var links: UInt64
    package var owner: UInt32
    package var mode: UInt32

    package func isSameFile(as other: FileStatus) -> Bool { device == other.device && number == other.number }
}
