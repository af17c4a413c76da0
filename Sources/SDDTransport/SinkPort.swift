internal import Glibc
internal import SDDBase

/// A descriptor whose writes may wait for a reader: a pipe, a socket, a terminal. Each write takes what goes now, and
/// keeps the rest. The application's open file is never made non-blocking, since others have it too. Any thread.
final class SinkPort: Sendable {
    private enum Way {
        /// An open file of our own, which is non-blocking; or the application's, which it made so.
        case nonBlocking
        case socket
        /// Polled before each write, of so many bytes at most, which then does not wait.
        case polled(most: Int)
    }

    let descriptor: Int32
    private let way: Way
    private let backlog = Monitor(Backlog())

    /// - Parameter descriptor: closed in the end.
    init(owning descriptor: Int32) {
        (self.descriptor, way) = Self.prepared(descriptor)
    }

    deinit { close(descriptor) }

    /// Files and disks: what is written to them waits for nobody.
    static func isFile(_ descriptor: Int32) -> Bool {
        let kind = kind(of: descriptor)
        return kind == S_IFREG || kind == S_IFBLK
    }

    private static func kind(of descriptor: Int32) -> mode_t {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    var waitingBytes: Int { backlog.withLock { $0.count } }

    func write(_ bytes: UnsafeRawPointer, count: Int) -> BodySink.Outcome {
        backlog.withLock { backlog in
            var done = 0
            if backlog.count == 0 {
                let code = put(bytes, count, &done)
                if code != 0 { return .failed(code) }
                if done == count { return .written }
            }
            return backlog.append(bytes + done, count: count - done) ? .waits : .failed(ENOMEM)
        }
    }

    func flush() -> BodySink.Outcome {
        backlog.withLock { backlog in
            guard let bytes = backlog.first else { return .written }
            var done = 0
            // Not all at once: a reader as fast as the writer would keep this thread from everything else.
            let code = put(bytes, min(backlog.count, Self.mostAtOnce), &done)
            backlog.removeFirst(done)
            if code != 0 { return .failed(code) }
            return backlog.count == 0 ? .written : .waits
        }
    }

    private static let mostAtOnce = 1 << 20
}

// MARK: - Writing without waiting

extension SinkPort {
    private static func prepared(_ descriptor: Int32) -> (Int32, Way) {
        let flags = fcntl(descriptor, F_GETFL)
        let kind = kind(of: descriptor)
        if kind == S_IFSOCK { return (descriptor, .socket) }
        if flags >= 0, flags & O_NONBLOCK != 0 { return (descriptor, .nonBlocking) }
        if kind == S_IFIFO, flags & O_ACCMODE != O_RDONLY, let own = reopened(descriptor) {
            close(descriptor)
            return (own, .nonBlocking)
        }
        return (descriptor, .polled(most: isatty(descriptor) == 1 ? mostToTerminal : Int(PIPE_BUF)))
    }

    /// The same pipe, opened once more. nil where that is not possible: without /proc, or with no reader.
    private static func reopened(_ descriptor: Int32) -> Int32? {
        let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        return own >= 0 ? own : nil
    }

    /// A terminal that can be written to has room for so many bytes, each of which may become two.
    private static let mostToTerminal = 64

    /// Writes what is taken now.
    /// - Returns: errno; 0 also when not all was taken.
    private func put(_ bytes: UnsafeRawPointer, _ count: Int, _ done: inout Int) -> Int32 {
        var written = 0
        let code = withoutSIGPIPE {
            while written < count {
                let result = step(bytes + written, count - written)
                if result < 0 && errno == EINTR { continue }
                if result < 0 { return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : errno }
                if result == 0 { return EIO }
                written += result
            }
            return 0
        }
        done = written
        return code
    }

    private func step(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        switch way {
        case .nonBlocking: return Glibc.write(descriptor, bytes, count)
        case .socket: return send(descriptor, bytes, count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        case .polled(let most):
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let ready = poll(&entry, 1, 0)
            if ready == 0 { errno = EAGAIN }
            return ready > 0 ? Glibc.write(descriptor, bytes, min(count, most)) : -1
        }
    }
}

/// Bytes that wait, in one malloc'ed buffer. An object and no struct without copies, see `ByteBuilder`.
private final class Backlog: @unchecked Sendable {
    // Safety: used under its port's lock alone.
    private var base: UnsafeMutableRawPointer?
    private var capacity = 0
    private var start = 0
    private(set) var count = 0

    deinit { free(base) }

    var first: UnsafeRawPointer? { count > 0 ? base.map { UnsafeRawPointer($0 + start) } : nil }

    /// - Returns: false when there is no memory.
    func append(_ bytes: UnsafeRawPointer, count added: Int) -> Bool {
        let (needed, overflow) = count.addingReportingOverflow(added)
        guard !overflow, makeRoom(needed), let base else { return false }
        memcpy(base + start + count, bytes, added)
        count = needed
        return true
    }

    /// For so many in all.
    private func makeRoom(_ needed: Int) -> Bool {
        if needed <= capacity - start { return true }
        // Moved only where that frees half of the buffer, so that no byte is moved more than once or twice.
        if let base, needed <= capacity / 2 {
            memmove(base, base + start, count)
            start = 0
            return true
        }
        let (doubled, tooFar) = needed.multipliedReportingOverflow(by: 2)
        let size = max(tooFar ? needed : doubled, 4096)
        guard let grown = malloc(size) else { return false }
        if let base { memcpy(grown, base + start, count) }
        free(base)
        (base, capacity, start) = (grown, size, 0)
        return true
    }

    func removeFirst(_ taken: Int) {
        count -= taken
        start += taken
        guard count == 0 else { return }
        free(base)
        (base, capacity, start) = (nil, 0, 0)
    }
}
