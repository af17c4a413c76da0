internal import SDDBase

/// Collects an encoder's output, up to a limit. Used by one thread.
final class EncodedBytes {
    private let builder = ByteBuilder()
    private let limit: Int
    /// The reason why further bytes were refused.
    private(set) var refusal: EncodeError?

    init(limit: Int) { self.limit = limit }

    private func take(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Bool {
        guard let bytes, count > 0 else { return true }
        if count > limit - builder.count {
            refusal = .doesNotFit
        } else if !builder.append(bytes, count: count) {
            refusal = .noMemory
        }
        return refusal == nil
    }

    /// Calls a C function with a callback that appends its output here, and the callback's context. May be called more
    /// than once: the context is this object, which the caller keeps alive until the encoder has finished.
    func take<Result>(
        of encode: (
            @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, Int) -> Bool, UnsafeMutableRawPointer
        )
            -> Result
    ) -> Result {
        // Safety: the caller keeps this object, see above.
        encode(
            { context, bytes, count in
                guard let context else { return false }
                return Unmanaged<EncodedBytes>.fromOpaque(context).takeUnretainedValue().take(bytes, count)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func end() -> Bytes { builder.take() }
}
