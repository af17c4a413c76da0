internal import Glibc

/// Detects the end of Brotli data (RFC 7932), because libcurl accepts data that stops anywhere as complete; no version
/// up to 8.21.0 ends this reason. The end shows only when the data is decompressed, so this class decompresses it a
/// second time, with the same decoder library that libcurl is linked with, and discards the output.
/// thread: sdd-net
final class BrotliEnd {
    private static let scratchBytes = 64 << 10

    private let decoder: OpaquePointer
    private let functions: Functions
    private let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: BrotliEnd.scratchBytes)
    /// Bytes of output that are still allowed. Decoding stops when they are used up, because such a body is refused as
    /// too large.
    private var allowance: Int64
    private(set) var isWhole = false

    /// - Parameter limit: Maximum size of the decompressed body, in bytes.
    init?(limit: Int64) {
        guard let functions = Self.functions, let decoder = functions.create(nil, nil, nil) else {
            scratch.deallocate()
            return nil
        }
        self.functions = functions
        self.decoder = decoder
        allowance = limit
    }

    deinit {
        functions.destroy(decoder)
        scratch.deallocate()
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        var next = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var rest = bytes.count
        while !isWhole, allowance >= 0 {
            var out: UnsafeMutablePointer<UInt8>? = scratch
            var room = Self.scratchBytes
            let result = functions.decode(decoder, &rest, &next, &room, &out, nil)
            allowance -= Int64(Self.scratchBytes - room)
            switch result {
            case Self.success: isWhole = true
            case Self.needsMoreOutput: continue
            // The decoder needs more input, or the data is damaged, which libcurl detects too.
            default: return
            }
        }
    }
}

extension BrotliEnd {
    private static let success: Int32 = 1
    private static let needsMoreOutput: Int32 = 3

    private typealias Create = @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> OpaquePointer?
    private typealias Destroy = @convention(c) (OpaquePointer?) -> Void
    private typealias Decode =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafePointer<UInt8>?>,
            UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<Int>?
        ) -> Int32

    private struct Functions: Sendable {
        let create: Create
        let destroy: Destroy
        let decode: Decode
    }

    /// The functions of the decoder. They are looked up at run time instead of linked, because a libcurl without Brotli
    /// does not need the decoder.
    private static let functions: Functions? = {
        guard let create = dlsym(nil, "BrotliDecoderCreateInstance"),
            let destroy = dlsym(nil, "BrotliDecoderDestroyInstance"),
            let decode = dlsym(nil, "BrotliDecoderDecompressStream")
        else { return nil }
        // Safety: brotli/decode.h has declared these types since 1.0; its enum is an int.
        return Functions(
            create: unsafeBitCast(create, to: Create.self), destroy: unsafeBitCast(destroy, to: Destroy.self),
            decode: unsafeBitCast(decode, to: Decode.self))
    }()
}
