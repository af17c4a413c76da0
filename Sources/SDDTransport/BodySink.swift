internal import Glibc
package import SDDBase

/// Where a body goes that is not kept: to a descriptor, or nowhere. Owned by its request; one transfer writes to
/// it, never two. No write to anything but a file waits for a reader: the rest is kept until `flush`. Thread: where the
/// body arrives, one call at a time, and where it is flushed.
package final class BodySink: Sendable {
    private enum Target: Sendable {
        case nowhere
        /// A file or disk, whose writes end by themselves.
        case file(Int32)
        /// A pipe, socket, terminal or device.
        case port(SinkPort)
    }

    package enum Outcome: Equatable {
        case written
        /// Some of what was given waits for a reader.
        case waits
        /// errno.
        case failed(Int32)
    }

    private let target: Target
    private let accepts: @Sendable (Response) -> Bool

    /// - Parameters:
    ///   - descriptor: duplicated; nil: what comes is dropped.
    ///   - accepts: whether a body with this response is wanted. What is not is dropped, for the engine to refuse.
    /// - Throws: the errno of fcntl(2): EBADF if it is not an open descriptor, EMFILE if there are no more.
    package init(descriptor: Int32?, accepts: @escaping @Sendable (Response) -> Bool) throws(SystemError) {
        self.accepts = accepts
        guard let descriptor else {
            target = .nowhere
            return
        }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemError(errno: errno) }
        target = SinkPort.isFile(copy) ? .file(copy) : .port(SinkPort(owning: copy))
    }

    deinit { if case .file(let descriptor) = target { close(descriptor) } }

    func takes(_ response: Response) -> Bool {
        if case .nowhere = target { false } else { accepts(response) }
    }

    package func write(_ bytes: UnsafeRawPointer, count: Int) -> Outcome {
        switch target {
        case .nowhere: return .written
        case .file(let descriptor):
            let code = writeAll(bytes, count: count, to: descriptor)
            return code == 0 ? .written : .failed(code)
        case .port(let port): return port.write(bytes, count: count)
        }
    }

    /// Writes what waits, as far as it is taken now.
    package func flush() -> Outcome {
        if case .port(let port) = target { port.flush() } else { .written }
    }

    /// Bytes that wait for a reader.
    package var waitingBytes: Int {
        if case .port(let port) = target { port.waitingBytes } else { 0 }
    }

    /// To poll for writing while something waits.
    var descriptor: Int32 {
        switch target {
        case .nowhere: -1
        case .file(let descriptor): descriptor
        case .port(let port): port.descriptor
        }
    }
}
