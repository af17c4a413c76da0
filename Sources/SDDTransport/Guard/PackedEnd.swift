/// Watches a body as it arrives from the network for the end of its compressed data. libcurl accepts a compressed
/// stream that stops anywhere as complete, if only its framing is intact. No version up to 8.21.0 ends this reason.
struct PackedEnd {
    enum Coding {
        case gzip, deflate, brotli, zstd

        /// - Parameter name: In lower case.
        /// - Returns: `nil` for a coding that this libcurl does not decompress.
        init?(name: String) {
            switch name {
            case "gzip" where CurlFeatures.hasDeflate, "x-gzip" where CurlFeatures.hasDeflate: self = .gzip
            case "deflate" where CurlFeatures.hasDeflate: self = .deflate
            case "br" where CurlFeatures.hasBrotli: self = .brotli
            case "zstd" where CurlFeatures.hasZstandard: self = .zstd
            default: return nil
            }
        }
    }

    private enum Data {
        case gzip(lastFour: UInt32)
        case deflate(DeflateEnd)
        case brotli(BrotliEnd)
        case zstd(ZstdEnd)
    }

    private enum Framing {
        /// Data without chunks, and the number of bytes still to come.
        case plain(rest: Int64)
        /// The line with the size of a chunk; `isExtension` is true after the last digit of the size.
        case size(value: Int64, isExtension: Bool)
        case chunk(rest: Int64)
        /// The line break after a chunk.
        case chunkEnd
        /// The last chunk has ended, or the framing is invalid, which libcurl reports.
        case over
    }

    private var framing: Framing
    private var count = 0
    private var data: Data

    /// - Parameters:
    ///   - length: Size of the compressed body; -1 if it is not announced.
    ///   - limit: Maximum size of the decompressed body.
    /// - Returns: `nil` if there is no memory, or no decoder for the coding.
    init?(_ coding: Coding, isChunked: Bool, length: Int64, limit: Int64) {
        framing = isChunked ? .size(value: 0, isExtension: false) : .plain(rest: length < 0 ? .max : length)
        switch coding {
        case .gzip: data = .gzip(lastFour: 0)
        case .deflate:
            guard let end = DeflateEnd(limit: limit) else { return nil }
            data = .deflate(end)
        case .zstd: data = .zstd(ZstdEnd())
        case .brotli:
            guard let end = BrotliEnd(limit: limit) else { return nil }
            data = .brotli(end)
        }
    }

    /// Whether the data has ended. A body of no bytes at all counts as ended.
    func isEnd(ofUnpacked size: Int) -> Bool {
        if count == 0 { return size == 0 }
        return switch data {
        // RFC 1952 §2.3.1: the last four bytes are the size before compression, modulo 2^32.
        case .gzip(let lastFour): count >= 18 && lastFour == UInt32(truncatingIfNeeded: size)
        case .deflate(let end): end.isWhole
        case .brotli(let end): end.isWhole
        case .zstd(let end): end.isWhole
        }
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch framing {
            case .plain(let length): framing = .plain(rest: length - take(&rest, most: length))
            case .chunk(let length):
                let taken = take(&rest, most: length)
                framing = taken < length ? .chunk(rest: length - taken) : .chunkEnd
            case .chunkEnd:
                if rest.removeFirst() == UInt8(ascii: "\n") { framing = .size(value: 0, isExtension: false) }
            case .size(let size, let isExtension): read(rest.removeFirst(), size, isExtension)
            case .over: return
            }
            if case .plain(0) = framing { framing = .over }
        }
    }

    private mutating func take(_ bytes: inout Slice<UnsafeRawBufferPointer>, most: Int64) -> Int64 {
        let part = bytes.prefix(Int(clamping: most))
        watch(part)
        count += part.count
        bytes = bytes.dropFirst(part.count)
        return Int64(part.count)
    }

    private mutating func watch(_ part: Slice<UnsafeRawBufferPointer>) {
        switch data {
        case .gzip(var lastFour):
            for byte in part.suffix(4) { lastFour = lastFour >> 8 | UInt32(byte) << 24 }
            data = .gzip(lastFour: lastFour)
        case .deflate(let end): end.append(UnsafeRawBufferPointer(rebasing: part))
        case .brotli(let end): end.append(UnsafeRawBufferPointer(rebasing: part))
        case .zstd(var end):
            end.append(UnsafeRawBufferPointer(rebasing: part))
            data = .zstd(end)
        }
    }

    /// Reads the line before a chunk: the size in hexadecimal, an optional extension, a line break. RFC 9112 §7.1.
    private mutating func read(_ byte: UInt8, _ size: Int64, _ isExtension: Bool) {
        if byte == UInt8(ascii: "\n") {
            framing = size == 0 ? .over : .chunk(rest: size)
        } else if !isExtension, let digit = Character(Unicode.Scalar(byte)).hexDigitValue {
            framing = size > .max >> 5 ? .over : .size(value: size << 4 | Int64(digit), isExtension: false)
        } else {
            framing = .size(value: size, isExtension: true)
        }
    }
}
