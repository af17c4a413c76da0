internal import CSystem
internal import Glibc
package import SDDBase

/// The real system calls. An interrupted call (EINTR) is repeated. Callable from any thread.
package struct SystemFiles: FileCalls {
    package init() {}

    /// The flags that `open` always adds: it follows no link, never waits, and the descriptor is not inherited by
    /// programs that the application starts.
    private static let always = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK

    /// O_NOATIME, a flag for `open`: reading does not update the access time. Not permitted for files of other users.
    package static let keepsTimes = sddsys_open_noatime

    package func open(_ name: String, in directory: Int32, flags: Int32) throws(SystemError) -> Int32 {
        try Self.call { openat(directory, name, flags | Self.always, 0o600) }
    }

    package func close(_ descriptor: Int32) throws(SystemError) {
        // The call is not repeated after EINTR: on Linux the descriptor is closed by then, and its number may have been
        // reused.
        if Glibc.close(descriptor) != 0 && errno != EINTR { throw SystemError(errno: errno) }
    }

    package func replace(_ descriptor: Int32, by other: Int32) throws(SystemError) {
        _ = try Self.call { sddsys_replace(descriptor, other) }
    }

    package func read(
        _ descriptor: Int32, at offset: Int64, into place: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        try Self.call { pread(descriptor, place.baseAddress, place.count, off_t(offset)) }
    }

    package func write(_ descriptor: Int32, _ parts: [UnsafeRawBufferPointer]) throws(SystemError) -> Int {
        let vectors = parts.map {
            iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
        }
        return try Self.call { writev(descriptor, vectors, Int32(clamping: vectors.count)) }
    }

    package func cut(_ descriptor: Int32, to size: Int64) throws(SystemError) {
        _ = try Self.call { ftruncate(descriptor, off_t(size)) }
    }

    package func sync(_ descriptor: Int32, dataOnly: Bool) throws(SystemError) {
        _ = try Self.call { dataOnly ? fdatasync(descriptor) : fsync(descriptor) }
    }

    package func map(_ descriptor: Int32, length: Int) throws(SystemError) -> UnsafeMutableRawPointer {
        let base = mmap(nil, length, PROT_READ, MAP_PRIVATE, descriptor, 0)
        guard let base, base != MAP_FAILED else { throw SystemError(errno: errno) }
        return base
    }

    package func lock(_ descriptor: Int32) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try Self.call { flock(descriptor, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            if error.errno == EWOULDBLOCK { return false }
            throw error
        }
    }

    package func unlock(_ descriptor: Int32) throws(SystemError) {
        _ = try Self.call { flock(descriptor, LOCK_UN) }
    }

    package func lockShared(_ descriptor: Int32, byte: Int64) throws(SystemError) {
        _ = try Self.call { sddsys_lock_shared(descriptor, byte) }
    }

    package func unlockShared(_ descriptor: Int32, byte: Int64) throws(SystemError) {
        _ = try Self.call { sddsys_unlock_shared(descriptor, byte) }
    }

    package func isLockedElsewhere(_ descriptor: Int32, byte: Int64) throws(SystemError) -> Bool {
        try Self.call { sddsys_is_locked_elsewhere(descriptor, byte) } != 0
    }

    package func isOnLocalDisk(_ descriptor: Int32) -> Bool { sddsys_is_on_local_disk(descriptor) != 0 }

    package func status(of descriptor: Int32) throws(SystemError) -> FileStatus {
        var status = stat()
        _ = try Self.call { fstat(descriptor, &status) }
        return FileStatus(status)
    }

    package func status(of name: String, in directory: Int32) throws(SystemError) -> FileStatus {
        var status = stat()
        _ = try Self.call { fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) }
        return FileStatus(status)
    }

    package func setTimes(of descriptor: Int32, used: Int64?, modified: Int64?) throws(SystemError) {
        let times = [Self.time(used), Self.time(modified)]
        _ = try Self.call { futimens(descriptor, times) }
    }

    package func setTimes(
        of name: String, in directory: Int32, used: Int64?, modified: Int64?
    ) throws(SystemError) {
        let times = [Self.time(used), Self.time(modified)]
        _ = try Self.call { utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW) }
    }

    package func rename(_ name: String, to newName: String, in directory: Int32) throws(SystemError) {
        _ = try Self.call { renameat(directory, name, directory, newName) }
    }

    package func link(
        _ name: String, in directory: Int32, as newName: String, in newDirectory: Int32
    ) throws(SystemError) {
        _ = try Self.call { linkat(directory, name, newDirectory, newName, 0) }
    }

    package func remove(_ name: String, in directory: Int32) throws(SystemError) {
        _ = try Self.call { unlinkat(directory, name, 0) }
    }

    package func makeDirectory(_ name: String, in directory: Int32) throws(SystemError) {
        _ = try Self.call { mkdirat(directory, name, 0o700) }
    }

    package func removeDirectory(_ name: String, in directory: Int32) throws(SystemError) {
        _ = try Self.call { unlinkat(directory, name, AT_REMOVEDIR) }
    }

    package func listing(_ directory: Int32) throws(SystemError) -> DirectoryListing {
        // The stream gets a descriptor of its own, since both share one position and closing one would close the other.
        let own = try open(".", in: directory, flags: O_RDONLY | O_DIRECTORY)
        guard let stream = fdopendir(own) else {
            let code = errno
            try? close(own)
            throw SystemError(errno: code)
        }
        return DirectoryListing(stream)
    }

    private static func time(_ microseconds: Int64?) -> timespec {
        guard let microseconds else { return timespec(tv_sec: 0, tv_nsec: Int(sddsys_utime_omit)) }
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return rest < 0
            ? timespec(tv_sec: Int(seconds) - 1, tv_nsec: (Int(rest) + 1_000_000) * 1000)
            : timespec(tv_sec: Int(seconds), tv_nsec: Int(rest) * 1000)
    }

    @inline(__always)
    private static func call<Number: SignedInteger>(_ body: () -> Number) throws(SystemError) -> Number {
        while true {
            let result = body()
            if result >= 0 { return result }
            if errno != EINTR { throw SystemError(errno: errno) }
        }
    }
}

extension FileStatus {
    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            default: .other
            }
        size = Int64(status.st_size)
        allocated = Int64(clamping: status.st_blocks).multipliedReportingOverflow(by: 512).partialValue
        used = Self.microseconds(status.st_atim)
        modified = Self.microseconds(status.st_mtim)
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        links = UInt64(status.st_nlink)
        owner = status.st_uid
        mode = status.st_mode
    }

    /// Converts a file's time, which may have any value, without overflow.
    private static func microseconds(_ time: timespec) -> Int64 {
        let (whole, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000)
        if overflow { return time.tv_sec < 0 ? .min : .max }
        let (sum, overflows) = whole.addingReportingOverflow(Int64(time.tv_nsec) / 1000)
        return overflows ? .max : sum
    }
}
