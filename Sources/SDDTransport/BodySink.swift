internal import Glibc
package import SDDBase

/// Where a body goes that is not kept: to a descriptor, or nowhere. Owned by its request; one transfer writes to
/// it, never two. Thread: where the body arrives, one call at a time.
package final class BodySink: Sendable {
    /// nil: nowhere.
    private let descriptor: Int32?
    private let accepts: @Sendable (Response) -> Bool

    /// - Parameters:
    ///   - descriptor: duplicated; nil: what comes is dropped.
    ///   - accepts: whether a body with this response is wanted. What is not is dropped, for the engine to refuse.
    /// - Returns: nil if it is not an open descriptor, or there are no more.
    package init?(descriptor: Int32?, accepts: @escaping @Sendable (Response) -> Bool) {
        self.accepts = accepts
        guard let descriptor else {
            self.descriptor = nil
            return
        }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        self.descriptor = copy
        if copy < 0 { return nil }
    }

    deinit { if let descriptor, descriptor >= 0 { close(descriptor) } }

    func takes(_ response: Response) -> Bool { descriptor != nil && accepts(response) }

    /// - Returns: errno; 0 for success.
    func write(_ bytes: UnsafeRawPointer, count: Int) -> Int32 {
        guard let descriptor else { return 0 }
        return writeAll(bytes, count: count, to: descriptor)
    }
}
