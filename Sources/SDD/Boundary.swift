internal import CSDD
internal import Glibc
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

// What comes in from C, checked and copied, and what goes out: the only place where a caller's sized structs
// and strings are read. What they mean is in `RequestReading`, `ConfigurationReading` and the like.

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
///   - place: the argument or field that `source` is.
func read<Struct: SizedStruct>(
    _ source: UnsafePointer<Struct>?, _ place: Place, into value: inout Struct, minimum: Int = MemoryLayout<Int>.size
) throws(Refusal) {
    guard let source else { throw .null(place) }
    // Safety: every sized struct begins with its size_t struct_size, which says how far it may be read.
    let bytes = UnsafeRawPointer(source)
    let size = bytes.loadUnaligned(as: Int.self)
    guard size >= minimum else { throw badSize(size, of: Struct.self, "at least \(minimum)") }
    try read(bytes, size: size, into: &value)
}

/// The same of a struct whose size is known, by the first of its row.
func read<Struct: SizedStruct>(_ bytes: UnsafeRawPointer, size: Int, into value: inout Struct) throws(Refusal) {
    guard isWhole(size, of: Struct.self) else { throw badAlignment(size, of: Struct.self) }
    guard size <= largestStruct else {
        throw badSize(size, of: Struct.self, "at most \(largestStruct)", SDD_ERROR_UNSUPPORTED)
    }
    let known = MemoryLayout<Struct>.size
    if size > known {
        let unknown = UnsafeRawBufferPointer(start: bytes + known, count: size - known)
        guard unknown.allSatisfy({ $0 == 0 }) else {
            throw Refusal(
                SDD_ERROR_UNSUPPORTED, Struct.sizePlace,
                "of \(size) bytes this version of libsdd knows \(known), and those behind are not 0")
        }
    }
    withUnsafeMutableBytes(of: &value) { $0.copyMemory(from: .init(start: bytes, count: min(size, known))) }
}

/// Of a struct that is to be filled.
func checkSize<Struct: SizedStruct>(
    _ size: Int, of type: Struct.Type, minimum: Int = MemoryLayout<Int>.size
) throws(Refusal) {
    guard size >= minimum, size <= largestStruct else {
        throw badSize(size, of: type, "\(minimum) to \(largestStruct)")
    }
    guard isWhole(size, of: type) else { throw badAlignment(size, of: type) }
}

private func badSize<Struct: SizedStruct>(
    _ size: Int, of: Struct.Type, _ allowed: String, _ status: Int = SDD_ERROR_INVALID_ARGUMENT
) -> Refusal {
    Refusal(status, Struct.sizePlace, "\(UInt(bitPattern: size)) is not \(allowed): begin with the struct's _INIT")
}

private func badAlignment<Struct: SizedStruct>(_ size: Int, of: Struct.Type) -> Refusal {
    Refusal(
        SDD_ERROR_INVALID_ARGUMENT, Struct.sizePlace,
        "\(UInt(bitPattern: size)) is no multiple of \(MemoryLayout<Struct>.alignment): begin with the struct's _INIT")
}

/// Fills a caller's struct, as far as its struct_size says.
/// - Parameter value: its struct_size need not be set.
func fill<Struct: SizedStruct>(
    _ target: UnsafeMutablePointer<Struct>?, _ place: Place, with value: Struct
) throws(Refusal) {
    guard let target else { throw .null(place) }
    // Safety: as in `read`; nothing is written past struct_size.
    let bytes = UnsafeMutableRawPointer(target)
    let size = bytes.loadUnaligned(as: Int.self)
    try checkSize(size, of: Struct.self)
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
/// - Parameter isSecret: it is not to be shown, wherever something is wrong with it.
func text(_ string: UnsafePointer<CChar>?, _ place: Place, isSecret: Bool = false) throws(Refusal) -> String? {
    guard let string else { return nil }
    guard let text = headerValue(string), !text.isEmpty else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, place,
            (isSecret ? "" : "\(shown(string)) cannot be: ") + "it must be UTF-8 of 1 to \(longestField) bytes, "
                + "without control characters")
    }
    return text
}

/// A path of the file system: any bytes but control characters would do, UTF-8 it must be.
func path(_ string: UnsafePointer<CChar>?, _ place: Place) throws(Refusal) -> String? { try text(string, place) }

/// What is wrong with the name of a header field, or a method.
func noToken(_ string: UnsafePointer<CChar>?, _ place: Place) -> Refusal {
    if string == nil { return .null(place) }
    return Refusal(
        SDD_ERROR_INVALID_ARGUMENT, place,
        "\(shown(string)) is no token of HTTP: letters, digits and !#$%&'*+-.^_`|~, at most \(longestField)")
}

/// What is wrong with the value of a header field, which nobody is to read in a sentence.
func noFieldValue(_ place: Place) -> Refusal {
    Refusal(
        SDD_ERROR_INVALID_ARGUMENT, place,
        "it must be UTF-8 of at most \(longestField) bytes, without control characters")
}

// MARK: - Bytes in

/// Refuses NULL with a size, and a size that no memory has: it arrives as a negative number.
func checkBytes(_ bytes: UnsafeRawPointer?, _ size: Int, _ place: Place) throws(Refusal) {
    guard size >= 0 else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT, "size", "\(UInt(bitPattern: size)) is more than memory can have")
    }
    guard bytes != nil || size == 0 else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT, place, "NULL is allowed with a size of 0 alone, and it is \(size)")
    }
}

// MARK: - Strings and numbers out

/// Writes a text and a NUL to a caller's buffer.
func write(
    _ text: String, to buffer: UnsafeMutablePointer<CChar>?, capacity: Int, length: UnsafeMutablePointer<Int>?
) throws(Refusal) {
    let count = text.utf8.count
    length?.pointee = count
    guard let buffer, UInt(bitPattern: capacity) > UInt(count) else {
        throw Refusal(
            SDD_ERROR_BUFFER_TOO_SMALL, "capacity",
            "\(UInt(bitPattern: capacity)) is too little for \(count) bytes and a NUL")
    }
    text.withCString { _ = memcpy(buffer, $0, count + 1) }
}

/// Refuses NULL with a capacity.
func checkBuffer(_ buffer: UnsafeMutablePointer<CChar>?, capacity: Int) throws(Refusal) {
    guard buffer != nil || capacity == 0 else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT, "buffer", "NULL is allowed with a capacity of 0 alone")
    }
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
        let error = DownloadError(error)
        detail?.pointee = error.detail.rawValue
        throw Refusal(error)
    }
}

/// The pixels of an image, decoded now if they have not been.
func decoded(_ image: Image, _ detail: UnsafeMutablePointer<Int32>? = nil) throws(Refusal) -> PixelBuffer {
    try coded(detail) { () throws(CoderError) in try image.decoded() }
}
