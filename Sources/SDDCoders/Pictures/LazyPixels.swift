internal import SDDBase
internal import Synchronization

/// The pixels of a picture that was decoded later, and how many of them are good.
struct DecodedPixels {
    let pixels: PixelBuffer
    /// Number of good rows, as `Image.goodRows`.
    let goodRows: Int?
}

/// Pixels that are decoded once, when they are first requested. Callable from any thread; concurrent callers wait.
final class LazyPixels: @unchecked Sendable {
    // Safety: written by the one thread that decodes, before `isDone` is set, and read by others after that.
    private var result: Result<DecodedPixels, CoderError> = .failure(CoderError(.unsupported))
    private let isDone = Atomic(false)
    /// True while a thread decodes.
    private let isUnderway = Monitor(false)
    private let generation = ForkGeneration.current
    /// Decodes the pixels. Released, with the data it holds, by the one thread that has called it.
    private var decode: (@Sendable () -> Result<DecodedPixels, CoderError>)?
    private let undecodedByteCount: Int

    /// - Parameter encodedByteCount: bytes of the encoded data that `decode` holds.
    init(encodedByteCount: Int, _ decode: @escaping @Sendable () -> Result<DecodedPixels, CoderError>) {
        self.decode = decode
        undecodedByteCount = encodedByteCount
    }

    /// Bytes of the encoded data that are still held for decoding.
    var encodedByteCount: Int { isDone.load(ordering: .acquiring) ? 0 : undecodedByteCount }

    /// The pixels; `nil` if they have not been requested, or could not be decoded.
    var ready: PixelBuffer? { decoded?.pixels }

    /// Number of good rows; `nil` means all rows, and also that the pixels are not decoded yet.
    var goodRows: Int? { decoded?.goodRows }

    private var decoded: DecodedPixels? { isDone.load(ordering: .acquiring) ? try? result.get() : nil }

    func get() throws(CoderError) -> PixelBuffer {
        if !isDone.load(ordering: .acquiring) {
            // A thread of the parent that may be decoding does not exist in the child.
            guard ForkGeneration.current == generation else {
                throw CoderError(.unsupported, "not decoded before the fork")
            }
            decodeOnce()
        }
        return try result.get().pixels
    }

    private func decodeOnce() {
        let isMine = isUnderway.wait { isUnderway -> Bool? in
            if isDone.load(ordering: .acquiring) { return false }
            if isUnderway { return nil }
            isUnderway = true
            return true
        }
        guard isMine else { return }
        // Decodes without the lock, since memory may come from the application's functions.
        if let decode { result = decode() }
        decode = nil
        isUnderway.withLock { _ in isDone.store(true, ordering: .releasing) }
        isUnderway.broadcast()
    }
}
