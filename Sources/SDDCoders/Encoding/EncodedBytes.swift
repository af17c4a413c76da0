internal import SDDBase

/// Takes what an encoder makes, up to a limit. One thread.
final class EncodedBytes {
    private let builder = ByteBuilder()
    private let limit: Int
    /// Why it took no more.
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

    /// Calls a function of C with what its bytes come here by: a callback and its context. Any number of times: the
    /// context is this object, which the caller keeps until the encoder has ended.
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
