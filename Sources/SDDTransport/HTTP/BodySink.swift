internal import Glibc
package import SDDBase

/// The destination of a body that is not kept in memory: a descriptor, or nowhere. Owned by its request; at most one
/// transfer writes to it. Only writes to files may block: for any other descriptor, bytes that its reader does not take
/// yet are kept until `flush`. Thread: called where the body arrives, one call at a time, and where it is flushed.
package final class BodySink: Sendable {
    private enum Target: Sendable {
        case nowhere
        /// A regular file or a disk, whose writes do not depend on a reader.
        case file(Int32)
        /// A pipe, socket, terminal or device.
        case port(SinkPort)
    }

    package enum Outcome: Equatable {
        case written
        /// Some of the bytes wait for a reader.
        case waits
        /// The errno of the failed write.
        case failed(Int32)
    }

    private let target: Target
    private let accepts: @Sendable (Response) -> Bool

    /// - Parameters:
    ///   - descriptor: Duplicated. `nil` discards the body.
    ///   - accepts: Whether a body with this response is wanted. Other bodies are discarded here, and refused by the
    ///     engine.
    /// - Throws: The errno of fcntl(2): EBADF if `descriptor` is not open, EMFILE if there are no descriptors left.
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

    /// Writes waiting bytes, as many as the descriptor accepts without blocking.
    package func flush() -> Outcome {
        if case .port(let port) = target { port.flush() } else { .written }
    }

    /// Bytes that wait for a reader.
    package var waitingBytes: Int {
        if case .port(let port) = target { port.waitingBytes } else { 0 }
    }

    /// The descriptor to poll for writability while bytes wait.
    var descriptor: Int32 {
        switch target {
        case .nowhere: -1
        case .file(let descriptor): descriptor
        case .port(let port): port.descriptor
        }
    }
}
