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

/// Pixels as an encoder is to have them.
enum RowFeed {
    /// All at once, where they lie.
    case asTheyLie(PixelBuffer)
    /// A few at a time, made for it.
    case made(of: PixelBuffer, PixelFormat, background: UInt32)

    /// So many fit a processor's cache, and make the calls few.
    private static let rowsAtATime = 16

    /// - Parameter body: gets rows: where the first is, bytes from each to the next, how many.
    func forEach(_ body: (UnsafeRawPointer, Int, Int) throws(EncodeError) -> Void) throws(EncodeError) {
        switch self {
        case .asTheyLie(let pixels):
            try body(pixels.base, pixels.stride, pixels.height)
            withExtendedLifetime(pixels) {}
        case .made(let pixels, let format, let background):
            for top in stride(from: 0, to: pixels.height, by: Self.rowsAtATime) {
                let count = min(Self.rowsAtATime, pixels.height - top)
                let rows = try Self.rows(top, count, of: pixels, PixelForm(format: format, background: background))
                try body(rows.base, rows.stride, count)
                withExtendedLifetime(rows) {}
            }
        }
    }

    private static func rows(
        _ top: Int, _ count: Int, of pixels: PixelBuffer, _ form: PixelForm
    ) throws(EncodeError) -> PixelBuffer {
        do throws(CoderError) {
            let rows = try PixelBuffer.make(width: pixels.width, height: count, .rgba8)
            for y in 0..<count { pixels.readRow(top + y, to: rows.base + y * rows.stride) }
            return try PixelForming(rows, to: form, orientation: 1).make()
        } catch {
            throw .noMemory
        }
    }
}
