internal import Glibc
internal import SDDBase

/// The reason why a file cannot be used as an entry.
enum EntryFlaw: Error, Equatable {
    /// Truncated, not matching its checksums, or not an entry at all: of no use.
    case damaged
    /// The file belongs to another key or another version of this library, or is too large for this process. It is left
    /// alone.
    case notOurs
    /// Reading failed; the file may be sound.
    case failed(CacheError)
}

/// The trailer behind the body in an entry's file. As a whole it is a box of type "free" in the ISO base media file
/// format (ISO/IEC 14496-12 §8.1.2), which AVIF and HEIF viewers skip; viewers of other formats stop reading at the end
/// of the image. Pure: converts bytes to values and back. All numbers are big-endian:
///
///     size 4, "free"                                                             box header
///     format 4, stored 8, body length 8, body sum 8
///     lengths of key, http and user 4 4 4, followed by these three
///     footer: XXH64 of all bytes above 8, size 4, version 4, magic 8
struct EntryTrailer: Equatable {
    var metadata: EntryMetadata
    var bodyLength: UInt64
    var bodySum: UInt64

    static let version: UInt32 = 2
    static let footerLength = 24
    /// The longest trailer, in bytes. More than any header and any data of the application should need, and still small
    /// compared with memory.
    static let longest = 16 << 20
    private static let magic: UInt64 = 0x7364_6465_6e74_7279  // "sddentry"
    private static let box: UInt32 = 0x6672_6565  // "free"
    private static let fixedLength = 8 + 28 + 12 + footerLength
}

extension EntryTrailer {
    /// Returns the encoded trailer; nil if it would be too long.
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

    static func hasMagic(atEndOf bytes: UnsafeRawBufferPointer) -> Bool {
        var reading = BytesReading(UnsafeRawBufferPointer(rebasing: bytes.suffix(8)))
        return reading.number() == magic
    }

    /// Returns the length of the trailer of a file that ends with these bytes.
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
    ///   - key: the wanted key; two keys may share a file name. `nil` accepts an entry of any key.
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

    /// Compares byte by byte: Swift's `==` treats canonically equivalent spellings of a letter as equal, but a server
    /// does not.
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
