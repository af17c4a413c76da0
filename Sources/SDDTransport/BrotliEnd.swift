internal import Glibc

/// Follows Brotli data (RFC 7932) to its end: libcurl 7.88 takes data that stops anywhere for complete. Where it ends
/// shows only when it is unpacked, so this does that a second time, by the decoder that libcurl itself is linked with,
/// and keeps nothing of it.
/// thread: sdd-net
final class BrotliEnd {
    private static let scratchBytes = 64 << 10

    private let decoder: OpaquePointer
    private let functions: Functions
    private let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: BrotliEnd.scratchBytes)
    /// What may still come out; more is too large a body, and refused as such.
    private var allowance: Int64
    private(set) var isWhole = false

    /// Whether the decoder can be found. It can where libcurl was linked with it as a shared library.
    static var isAvailable: Bool { functions != nil }

    /// - Parameter limit: of the unpacked body.
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
            // It wants more than there is, or it is damaged, which libcurl finds, too.
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

    /// Not linked with: a libcurl without Brotli does without it.
    private static let functions: Functions? = {
        guard let create = dlsym(nil, "BrotliDecoderCreateInstance"),
            let destroy = dlsym(nil, "BrotliDecoderDestroyInstance"),
            let decode = dlsym(nil, "BrotliDecoderDecompressStream")
        else { return nil }
        // Safety: these are the types that brotli/decode.h gives them since 1.0, its enum being an int.
        return Functions(
            create: unsafeBitCast(create, to: Create.self), destroy: unsafeBitCast(destroy, to: Destroy.self),
            decode: unsafeBitCast(decode, to: Decode.self))
    }()
}
