internal import CSDD
internal import Glibc
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

// What comes in from C, checked and copied, and what goes out: the only place where a caller's sized structs
// and strings are read. What they mean is in `RequestReading`, `ConfigurationReading` and the like.

/// A call is refused, with the status it returns.
struct Refusal: Error {
    let status: sdd_status

    init(_ status: Int) { self.status = sdd_status(status) }
}

/// The status a call returns.
func status(of body: () throws(Refusal) -> Void) -> sdd_status {
    do throws(Refusal) {
        try body()
        return sdd_status(SDD_OK)
    } catch {
        return error.status
    }
}

// MARK: - Sized structs

/// No struct of ours will ever be larger: a `struct_size` beyond is not a size.
private let largestStruct = 4096

/// C gives a struct a size that is a multiple of its alignment. Any other size is a mistake, and could cut a pointer in
/// two: half of it would be read as an address.
private func isWhole<Struct>(_ size: Int, of: Struct.Type) -> Bool { size % MemoryLayout<Struct>.alignment == 0 }

/// Copies a caller's struct, which may be shorter than ours (the rest stays zero) or longer (when what we
/// do not know is zero).
/// - Parameters:
///   - value: all zeros.
///   - minimum: bytes without which the struct means nothing.
func read<Struct>(
    _ source: UnsafePointer<Struct>?, into value: inout Struct, minimum: Int = MemoryLayout<Int>.size
) throws(Refusal) {
    guard let source else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    // Safety: every sized struct begins with its size_t struct_size, which says how far it may be read.
    let bytes = UnsafeRawPointer(source)
    let size = bytes.loadUnaligned(as: Int.self)
    guard size >= minimum else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    try read(bytes, size: size, into: &value)
}

/// The same of a struct whose size is known, by the first of its row.
func read<Struct>(_ bytes: UnsafeRawPointer, size: Int, into value: inout Struct) throws(Refusal) {
    guard isWhole(size, of: Struct.self) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    guard size <= largestStruct else { throw Refusal(SDD_ERROR_UNSUPPORTED) }
    let known = MemoryLayout<Struct>.size
    if size > known {
        let unknown = UnsafeRawBufferPointer(start: bytes + known, count: size - known)
        guard unknown.allSatisfy({ $0 == 0 }) else { throw Refusal(SDD_ERROR_UNSUPPORTED) }
    }
    withUnsafeMutableBytes(of: &value) { $0.copyMemory(from: .init(start: bytes, count: min(size, known))) }
}

/// Fills a caller's struct, as far as its struct_size says.
/// - Parameter value: its struct_size need not be set.
func fill<Struct>(_ target: UnsafeMutablePointer<Struct>?, with value: Struct) throws(Refusal) {
    guard let target else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    // Safety: as in `read`; nothing is written past struct_size.
    let bytes = UnsafeMutableRawPointer(target)
    let size = bytes.loadUnaligned(as: Int.self)
    guard size >= MemoryLayout<Int>.size, size <= largestStruct, isWhole(size, of: Struct.self) else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
    }
    var value = value
    memset(bytes, 0, size)
    withUnsafeBytes(of: &value) { value in
        if let start = value.baseAddress { bytes.copyMemory(from: start, byteCount: min(size, value.count)) }
    }
    bytes.storeBytes(of: size, as: Int.self)
}

// MARK: - Strings in

/// Longest header name or value that is taken.
private let longestField = 65_536

/// The bytes before the NUL; nil for NULL. Looks no further than `limit` + 1 bytes.
func bytes(of string: UnsafePointer<CChar>?, limit: Int) -> UnsafeBufferPointer<UInt8>? {
    guard let string else { return nil }
    return string.withMemoryRebound(to: UInt8.self, capacity: 1) {
        UnsafeBufferPointer(start: $0, count: strnlen(string, limit + 1))
    }
}

func headerName(_ string: UnsafePointer<CChar>?) -> String? {
    guard let bytes = bytes(of: string, limit: longestField), bytes.count <= longestField, HTTPFields.isToken(bytes)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
}

/// A header value, or any other text that must not have control characters. nil for NULL, too.
func headerValue(_ string: UnsafePointer<CChar>?) -> String? {
    guard let bytes = bytes(of: string, limit: longestField), bytes.count <= longestField, HTTPFields.isValue(bytes)
    else { return nil }
    return String(validating: bytes, as: UTF8.self)
}

/// A text of a config: nil for NULL; not empty, without control characters.
func text(_ string: UnsafePointer<CChar>?) throws(Refusal) -> String? {
    guard let string else { return nil }
    guard let text = headerValue(string), !text.isEmpty else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    return text
}

/// A path of the file system: any bytes but control characters would do, UTF-8 it must be.
func path(_ string: UnsafePointer<CChar>?) throws(Refusal) -> String? { try text(string) }

// MARK: - Strings and numbers out

/// Writes a text and a NUL to a caller's buffer.
func write(
    _ text: String, to buffer: UnsafeMutablePointer<CChar>?, capacity: Int, length: UnsafeMutablePointer<Int>?
) throws(Refusal) {
    let count = text.utf8.count
    length?.pointee = count
    guard let buffer, UInt(bitPattern: capacity) > UInt(count) else { throw Refusal(SDD_ERROR_BUFFER_TOO_SMALL) }
    text.withCString { _ = memcpy(buffer, $0, count + 1) }
}

/// Writes as much of a text as there is room for, and a NUL. Never half a character.
func writeCut(_ text: String, to buffer: UnsafeMutablePointer<CChar>?, capacity: Int) {
    guard let buffer, capacity != 0 else { return }
    var text = text
    while text.utf8.count >= clamped(capacity) { text.removeLast() }
    text.withCString { _ = memcpy(buffer, $0, text.utf8.count + 1) }
}

/// A C caller's size_t: what does not fit an Int is more than there can be.
func clamped(_ size: Int) -> Int { size < 0 ? Int.max : size }

// MARK: - The host's data

/// A pointer of the host's, which the library only hands back.
struct HostPointer: @unchecked Sendable {
    // Safety: never followed here; the host gave it to be given back to its own functions.
    let pointer: UnsafeMutableRawPointer?

    init(_ pointer: UnsafeMutableRawPointer?) { self.pointer = pointer }
}

/// A pointer of the host's with the function that frees it, called when nobody holds this object any more, if
/// the library has come to own it.
final class HostData: @unchecked Sendable {
    // Safety: `isOwned` is set once, by the thread that has made the object, before others let go of it.
    let pointer: UnsafeMutableRawPointer?
    private let free: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
    private var isOwned = false

    init(_ pointer: UnsafeMutableRawPointer?, free: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?) {
        self.pointer = pointer
        self.free = free
    }

    /// The call that gave it has succeeded.
    func own() { isOwned = true }

    deinit { if isOwned { free?(pointer) } }
}

/// What a picture's bytes gave; of what they did not give, a caller's detail tells why.
func coded<Value>(
    _ detail: UnsafeMutablePointer<Int32>?, _ work: () throws(CoderError) -> Value
) throws(Refusal) -> Value {
    do throws(CoderError) {
        return try work()
    } catch {
        detail?.pointee = DownloadError(error).detail.rawValue
        throw Refusal(SDD_ERROR_BAD_IMAGE_DATA)
    }
}

/// The pixels of an image, decoded now if they have not been.
func decoded(_ image: Image, _ detail: UnsafeMutablePointer<Int32>? = nil) throws(Refusal) -> PixelBuffer {
    try coded(detail) { () throws(CoderError) in try image.decoded() }
}
