internal import CLibZ
internal import Glibc

/// Detects the end of deflate data (RFC 1951, with or without the zlib wrapper of RFC 1950), because libcurl accepts
/// data that stops anywhere as complete; no version up to 8.21.0 ends this reason. The end shows only when the data is
/// decompressed, so this class decompresses it a second time, as `BrotliEnd` does, and discards the output. Invalid
/// data is left for libcurl to report. thread: sdd-net
final class DeflateEnd {
    private static let scratchBytes = 64 << 10

    private let functions: Functions
    /// zlib keeps the address of the stream.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: DeflateEnd.scratchBytes)
    /// The first two bytes, which tell whether there is a wrapper.
    private var start: [UInt8] = []
    /// Bytes of output that are still allowed. Decoding stops when they are used up, because such a body is refused as
    /// too large.
    private var allowance: Int64
    private(set) var isWhole = false

    /// - Parameter limit: Maximum size of the decompressed body, in bytes.
    /// - Returns: `nil` if there is no memory, or no zlib.
    init?(limit: Int64) {
        stream.initialize(to: z_stream())
        allowance = limit
        let size = Int32(MemoryLayout<z_stream>.size)
        guard let functions = Self.functions, functions.begin(stream, MAX_WBITS, ZLIB_VERSION, size) == Z_OK else {
            stream.deallocate()
            scratch.deallocate()
            return nil
        }
        self.functions = functions
    }

    deinit {
        _ = functions.end(stream)
        stream.deallocate()
        scratch.deallocate()
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        if start.count < 2 {
            while start.count < 2, let byte = rest.popFirst() { start.append(byte) }
            guard start.count == 2 else { return }
            if !isWrapped { _ = functions.reset(stream, -MAX_WBITS) }
            start.withUnsafeBytes { decompress($0) }
        }
        decompress(UnsafeRawBufferPointer(rebasing: rest))
    }

    /// Whether the data begins with the header of RFC 1950. Like libcurl, this tells the two forms apart by the first
    /// two bytes.
    private var isWrapped: Bool {
        let (method, flags) = (Int(start[0]), Int(start[1]))
        return method & 15 == 8 && method >> 4 <= 7 && (method << 8 | flags) % 31 == 0
    }

    private func decompress(_ bytes: UnsafeRawBufferPointer) {
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(clamping: bytes.count)
        while !isWhole, allowance >= 0 {
            stream.pointee.next_out = scratch
            stream.pointee.avail_out = UInt32(Self.scratchBytes)
            let result = functions.decode(stream, Z_NO_FLUSH)
            allowance -= Int64(Self.scratchBytes) - Int64(stream.pointee.avail_out)
            isWhole = result == Z_STREAM_END
            // The output has room left: zlib needs more input, or the data is damaged, which libcurl detects too.
            if result != Z_OK || stream.pointee.avail_out > 0 { return }
        }
    }
}

extension DeflateEnd {
    private typealias Begin = @convention(c) (z_streamp, Int32, UnsafePointer<CChar>, Int32) -> Int32
    private typealias Step = @convention(c) (z_streamp, Int32) -> Int32
    private typealias End = @convention(c) (z_streamp) -> Int32

    private struct Functions: Sendable {
        let begin: Begin
        let reset: Step
        let decode: Step
        let end: End
    }

    /// The functions of the zlib that libcurl and libpng bring into the process. They are looked up at run time instead
    /// of linked, because the library itself needs only those two.
    private static let functions: Functions? = {
        guard let begin = dlsym(nil, "inflateInit2_"), let reset = dlsym(nil, "inflateReset2"),
            let decode = dlsym(nil, "inflate"), let end = dlsym(nil, "inflateEnd")
        else { return nil }
        // Safety: the types that zlib.h declares.
        return Functions(
            begin: unsafeBitCast(begin, to: Begin.self), reset: unsafeBitCast(reset, to: Step.self),
            decode: unsafeBitCast(decode, to: Step.self), end: unsafeBitCast(end, to: End.self))
    }()
}
