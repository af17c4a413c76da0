internal import Glibc
internal import SDDBase

/// The file that preserves the cookies of a jar. It is read as a whole and replaced atomically, so a concurrent reader
/// sees either the old or the new content.
struct CookieFile {
    let path: String

    /// The size limit of the file. A full jar has 3000 cookies of about 5000 bytes each.
    private static let maxBytes = 32 << 20
    private static let header = "# Netscape HTTP Cookie File\n# Written by libsdd.\n"

    /// Refuses a file that is something else, because it will be replaced: one with lines other than comments, of which
    /// none is a cookie.
    /// - Returns: An empty array if the file does not exist.
    func read() throws(TransportError) -> [Cookie] {
        // Without O_NONBLOCK, opening a pipe that has no writer would block forever.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 && errno == ENOENT { return [] }
        guard descriptor >= 0 else { throw unreadable(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw unreadable(errno) }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG else { throw unreadable(kind == S_IFDIR ? EISDIR : 0) }
        guard status.st_size <= Self.maxBytes else { throw unreadable(EFBIG) }
        let text = LosslessText.decoded(try content(of: descriptor, count: Int(status.st_size)))
        let lines = text.split(whereSeparator: { $0 == "\n" || $0 == "\r" || $0 == "\r\n" })
        let cookies = lines.compactMap { Cookie(line: $0) }
        guard !cookies.isEmpty || lines.allSatisfy({ $0.hasPrefix("#") }) else {
            throw TransportError(
                .badConfiguration,
                message: "sdd_network_options.cookie_file: it is no file of cookies in Netscape's format, and would be "
                    + "overwritten.")
        }
        return cookies
    }

    private func content(of descriptor: Int32, count: Int) throws(TransportError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let part = bytes.withUnsafeMutableBytes { buffer in
                // Safety: `filled` is less than the size of the buffer.
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled)
            }
            if part < 0 && errno == EINTR { continue }
            guard part >= 0 else { throw unreadable(errno) }
            if part == 0 { break }
            filled += part
        }
        return Array(bytes[..<filled])
    }

    /// Replaces the file, or that to which it is a link.
    func write(_ cookies: [Cookie]) throws(TransportError) {
        let path = try target()
        let lines = cookies.map { $0.line + "\n" }
        let temporary = "\(path).\(getpid()).\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        // O_EXCL and O_NOFOLLOW: a file or link that already has this name belongs to someone else.
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw unwritable(errno) }
        do throws(TransportError) {
            try write(LosslessText.bytes(of: Self.header + lines.joined()), to: descriptor)
            guard rename(temporary, path) == 0 else { throw unwritable(errno) }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// The path of the file behind all links, which is the file that was read.
    private func target() throws(TransportError) -> String {
        if let real = resolved() { return real }
        guard errno == ENOENT else { throw unwritable(errno) }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return path }
        // The link leads to a file that is still to be made.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw unwritable(errno) }
        close(descriptor)
        guard let real = resolved() else { throw unwritable(errno) }
        return real
    }

    private func resolved() -> String? {
        // Safety: realpath() gives a string of malloc(), or NULL.
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Writes all bytes and closes the descriptor, also on failure.
    private func write(_ bytes: [UInt8], to descriptor: Int32) throws(TransportError) {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                let code = errno
                close(descriptor)
                throw unwritable(code)
            }
            written += count
        }
        // Errors that a full disk has deferred are reported here.
        let isSafe = fsync(descriptor) == 0
        let code = errno
        guard close(descriptor) == 0, isSafe else { throw unwritable(isSafe ? errno : code) }
    }

    private func unreadable(_ code: Int32) -> TransportError {
        TransportError(
            .badConfiguration, systemError: code,
            message: "sdd_network_options.cookie_file: it is no plain file that may be read\(reason(code)).")
    }

    private func unwritable(_ code: Int32) -> TransportError {
        TransportError(
            .other, systemError: code,
            message: "The cookie file cannot be written, and its cookies are lost\(reason(code)).")
    }

    private func reason(_ code: Int32) -> String {
        // Safety: glibc's strerror gives a string of this thread's own, or a static one.
        guard code != 0, let text = strerror(code) else { return "" }
        return " (\(String(cString: text)))"
    }
}
