internal import Glibc
internal import SDDBase

/// Why a file is no entry that can be had.
enum EntryFlaw: Error, Equatable {
    /// Cut, or not what its sums say, or no entry at all: of no use to anybody.
    case damaged
    /// Of another key, of another version of this library, or too large for this process: left alone.
    case notOurs
    case failed(CacheError)
}

/// What stands behind the body in an entry's file. As a whole it is a box of the ISO base media file format of the kind
/// "free" (ISO/IEC 14496-12 §8.1.2), which viewers of AVIF and HEIF pass over; those of other formats read no further
/// than the picture's end. Pure: bytes to values and back. All numbers are in the order of the network:
///
///     size 4, "free"                                      the box
///     format 4, stored 8, body length 8, body sum 8
///     lengths of key, http and user 4 4 4, and these three
///     XXH64 of all of the above 8, size 4, version 4, magic 8   the footer
struct EntryTrailer: Equatable {
    var metadata: EntryMetadata
    var bodyLength: UInt64
    var bodySum: UInt64

    static let version: UInt32 = 2
    static let footerLength = 24
    /// More than any header and what a host may want to keep; far from what memory cannot bear.
    static let longest = 16 << 20
    private static let magic: UInt64 = 0x7364_6465_6e74_7279  // "sddentry"
    private static let box: UInt32 = 0x6672_6565  // "free"
    private static let fixedLength = 8 + 28 + 12 + footerLength

    init(metadata: EntryMetadata, bodyLength: UInt64, bodySum: UInt64) {
        self.metadata = metadata
        self.bodyLength = bodyLength
        self.bodySum = bodySum
    }

    /// Nil when it would be too long.
    func encoded(version: UInt32 = Self.version) -> [UInt8]? {
        let key = Array(metadata.key.utf8)
        var length = Self.fixedLength
        for part in [key, metadata.http, metadata.user] {
            guard part.count <= Self.longest - length else { return nil }
            length += part.count
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length)
        bytes.append(number: UInt32(length))
        bytes.append(number: Self.box)
        bytes.append(number: metadata.format)
        bytes.append(number: metadata.storedMicroseconds)
        bytes.append(number: bodyLength)
        bytes.append(number: bodySum)
        for part in [key, metadata.http, metadata.user] { bytes.append(number: UInt32(part.count)) }
        for part in [key, metadata.http, metadata.user] { bytes += part }
        bytes.append(number: bytes.withUnsafeBytes { XXH64.sum(of: $0) })
        bytes.append(number: UInt32(length))
        bytes.append(number: version)
        bytes.append(number: Self.magic)
        return bytes
    }

    /// How long the trailer is of a file with these last bytes.
    static func length(ofFileEndingWith bytes: UnsafeRawBufferPointer) throws(EntryFlaw) -> Int {
        var reading = BytesReading(UnsafeRawBufferPointer(rebasing: bytes.suffix(footerLength)))
        guard let _: UInt64 = reading.number(), let length: UInt32 = reading.number(),
            let version: UInt32 = reading.number(), let magic: UInt64 = reading.number(), magic == Self.magic
        else { throw .damaged }
        guard version == Self.version else { throw .notOurs }
        guard length >= fixedLength, length <= longest else { throw .damaged }
        return Int(length)
    }

    /// - Parameters:
    ///   - bytes: a whole trailer, as long as its footer says.
    ///   - key: the key that is wanted; two keys may have one name. `nil` takes the entry under whatever key it has.
    init(_ bytes: UnsafeRawBufferPointer, key: String?) throws(EntryFlaw) {
        let end = bytes.count - Self.footerLength
        guard end > 0 else { throw .damaged }
        var footer = BytesReading(UnsafeRawBufferPointer(rebasing: bytes[end...]))
        var reading = BytesReading(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        guard footer.number() == XXH64.sum(of: UnsafeRawBufferPointer(rebasing: bytes[..<end])),
            reading.number() == UInt32(clamping: bytes.count), reading.number() == Self.box,
            let format: Int32 = reading.number(), let stored: Int64 = reading.number(),
            let bodyLength: UInt64 = reading.number(), let bodySum: UInt64 = reading.number(),
            let keyLength: UInt32 = reading.number(), let httpLength: UInt32 = reading.number(),
            let userLength: UInt32 = reading.number(), let storedKey = reading.take(Int(keyLength)),
            let http = reading.take(Int(httpLength)), let user = reading.take(Int(userLength)), reading.isAtEnd
        else { throw .damaged }
        let key = key ?? String(decoding: storedKey, as: UTF8.self)
        guard Self.isEqual(storedKey, key) else { throw .notOurs }
        metadata = EntryMetadata(
            key: key, http: Array(http), user: Array(user), format: format, storedMicroseconds: stored)
        self.bodyLength = bodyLength
        self.bodySum = bodySum
    }

    /// Byte for byte: to Swift's `==` two ways to write a letter are equal, to a server they are not.
    private static func isEqual(_ bytes: UnsafeRawBufferPointer, _ key: String) -> Bool {
        var key = key
        return key.withUTF8 { key in
            guard key.count == bytes.count, let a = key.baseAddress, let b = bytes.baseAddress else {
                return key.isEmpty && bytes.isEmpty
            }
            return memcmp(a, b, key.count) == 0
        }
    }
}
