internal import SDDBase
internal import Synchronization

/// Pixels that are decoded when somebody asks for them, once. Any thread; who asks meanwhile waits.
final class LazyPixels: @unchecked Sendable {
    // Safety: written by the one thread that decodes, before `isDone` is set, and read by others after that.
    private var result: Result<PixelBuffer, CoderError> = .failure(CoderError(.unsupported))
    private let isDone = Atomic(false)
    /// A thread is at it.
    private let isUnderway = Monitor(false)
    private let generation = ForkGeneration.current
    /// Let go of with what it is decoded from, by the one thread that has called it.
    private var decode: (@Sendable () -> Result<PixelBuffer, CoderError>)?
    private let undecodedByteCount: Int

    /// - Parameter encodedByteCount: of what `decode` holds.
    init(encodedByteCount: Int, _ decode: @escaping @Sendable () -> Result<PixelBuffer, CoderError>) {
        self.decode = decode
        undecodedByteCount = encodedByteCount
    }

    /// Of what is still held to decode them from.
    var encodedByteCount: Int { isDone.load(ordering: .acquiring) ? 0 : undecodedByteCount }

    /// nil: they have not been asked for, or cannot be had.
    var ready: PixelBuffer? { isDone.load(ordering: .acquiring) ? try? result.get() : nil }

    func get() throws(CoderError) -> PixelBuffer {
        if !isDone.load(ordering: .acquiring) {
            // The parent's thread that may be at it does not exist in its child.
            guard ForkGeneration.current == generation else {
                throw CoderError(.unsupported, "not decoded before the fork")
            }
            decodeOnce()
        }
        return try result.get()
    }

    private func decodeOnce() {
        let isMine = isUnderway.wait { isUnderway -> Bool? in
            if isDone.load(ordering: .acquiring) { return false }
            if isUnderway { return nil }
            isUnderway = true
            return true
        }
        guard isMine else { return }
        // Without the lock: memory may come from the host's functions.
        if let decode { result = decode() }
        decode = nil
        isUnderway.withLock { _ in isDone.store(true, ordering: .releasing) }
        isUnderway.broadcast()
    }
}
