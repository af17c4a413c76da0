internal import Glibc
internal import SDDBase

/// A descriptor whose writes may wait for a reader: a pipe, a socket, a terminal. Each write passes on what the
/// descriptor accepts now, and keeps the rest. The application's open file is never made non-blocking, because others
/// may share it. Any thread.
final class SinkPort: Sendable {
    private enum Way {
        /// The open file is our own, and non-blocking, or the application's, and already non-blocking.
        case nonBlocking
        case socket
        /// The descriptor is polled before each write. Writes of at most `most` bytes then do not block.
        case polled(most: Int)
    }

    let descriptor: Int32
    private let way: Way
    private let backlog = Monitor(Backlog())

    /// - Parameter descriptor: Closed by `deinit`.
    init(owning descriptor: Int32) {
        (self.descriptor, way) = Self.prepared(descriptor)
    }

    deinit { close(descriptor) }

    /// Whether the descriptor is a file or a disk, whose writes do not wait for a reader.
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
            // The amount is limited, because a reader as fast as the writer would keep this thread from all other work.
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

    /// Opens the same pipe again. Returns `nil` if that is not possible: without /proc, or without a reader.
    private static func reopened(_ descriptor: Int32) -> Int32? {
        let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        return own >= 0 ? own : nil
    }

    /// Bytes for which a writable terminal has room, although each may become two.
    private static let mostToTerminal = 64

    /// Writes as many bytes as the descriptor accepts now.
    /// - Returns: The errno; 0 also if not all bytes were accepted.
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

/// Bytes that wait, in one malloc'ed buffer. A class instead of a noncopyable struct; see `ByteBuilder`.
private final class Backlog: @unchecked Sendable {
    // Safety: used only under its port's lock.
    private var base: UnsafeMutableRawPointer?
    private var capacity = 0
    private var start = 0
    private(set) var count = 0

    deinit { free(base) }

    var first: UnsafeRawPointer? { count > 0 ? base.map { UnsafeRawPointer($0 + start) } : nil }

    /// - Returns: `false` if there is no memory.
    func append(_ bytes: UnsafeRawPointer, count added: Int) -> Bool {
        let (needed, overflow) = count.addingReportingOverflow(added)
        guard !overflow, makeRoom(needed), let base else { return false }
        memcpy(base + start + count, bytes, added)
        count = needed
        return true
    }

    /// Makes room for `needed` bytes in total.
    private func makeRoom(_ needed: Int) -> Bool {
        if needed <= capacity - start { return true }
        // The bytes are moved only if that frees half of the buffer, so that each is moved at most once or twice.
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
