import Glibc

/// Standard error, as far as the application's file 2 is that. Callable from any thread, with any lock.
package enum StandardError {
    /// Writes a line in one call, so that lines of several threads and processes are not interleaved. A line that cannot
    /// be written at once is lost. Raises no SIGPIPE.
    /// - Parameter line: at most PIPE_BUF bytes, which a pipe takes as a whole or not at all.
    package static func write(_ line: [UInt8]) {
        var now = stat()
        guard fstat(STDERR_FILENO, &now) == 0 else { return }
        line.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            switch now.st_mode & S_IFMT {
            case S_IFSOCK:
                guard isSame(now) else { return }
                _ = send(STDERR_FILENO, start, bytes.count, Int32(Int(MSG_DONTWAIT) | Int(MSG_NOSIGNAL)))
            case S_IFIFO: writeToPipe(start, bytes.count)
            default: _ = withoutSIGPIPE { Glibc.write(STDERR_FILENO, start, bytes.count) < 0 ? errno : 0 }
            }
        }
    }

    /// Notes what file 2 is. The application may close it later, and the next connection may get its number.
    package static func note() { _ = noted }

    private static let noted: stat = {
        var file = stat()
        _ = fstat(STDERR_FILENO, &file)
        return file
    }()

    private static func isSame(_ file: stat) -> Bool { file.st_dev == noted.st_dev && file.st_ino == noted.st_ino }

    /// The flags of file 2 are the application's, so a pipe is opened once more, to be written to without waiting. Where
    /// that cannot be, another process that writes between both calls makes this one wait.
    private static func writeToPipe(_ start: UnsafeRawPointer, _ count: Int) {
        let own = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        defer { if own >= 0 { close(own) } }
        var room = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard own >= 0 || poll(&room, 1, 0) == 1 else { return }
        _ = withoutSIGPIPE { Glibc.write(own >= 0 ? own : STDERR_FILENO, start, count) < 0 ? errno : 0 }
    }
}

/// Returns an environment variable. The application may change the environment at any time, so read each variable once,
/// early.
package func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// Returns the id of this process.
package func processNumber() -> Int32 { getpid() }
