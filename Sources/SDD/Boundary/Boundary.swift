// Compilers before 6.3 look for what @implementation implements in this module and in what it exports, no further.
@_exported public import CSDD
internal import Glibc
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

// Checks and copies the sized structs and strings that come in from C, and writes those that go out. No other file
// reads them from the caller's memory; `RequestReading`, `ConfigurationReading` and similar files interpret the copies.

// MARK: - Sized structs

/// Upper limit on the size of any struct of this API, in any version; a larger `struct_size` is invalid.
private let largestStruct = 4096

/// Whether a size is a multiple of the struct's alignment, as it always is in C. Any other size is a mistake, and could
/// cut a pointer in two, so that half of it would be read as an address.
private func isWhole<Struct>(_ size: Int, of: Struct.Type) -> Bool { size % MemoryLayout<Struct>.alignment == 0 }

/// Copies a caller's struct. It may be shorter than the library's (the remaining fields are zero), or longer if all
/// bytes unknown to this version are zero.
/// - Parameter place: the argument or field that holds `source`, for error messages.
func read<Struct: SizedStruct>(_ source: UnsafePointer<Struct>?, _ place: Place) throws(Refusal) -> Struct {
    guard let source else { throw .null(place) }
    // Safety: every sized struct begins with its size_t struct_size, which says how far it may be read.
    let bytes = UnsafeRawPointer(source)
    let size = bytes.loadUnaligned(as: Int.self)
    let minimum = MemoryLayout<Int>.size
    guard size >= minimum else { throw badSize(size, of: Struct.self, "at least \(minimum)") }
    return try read(bytes, size: size)
}

/// Copies a caller's struct; all zeros for NULL.
func readOrZeros<Struct: SizedStruct>(_ source: UnsafePointer<Struct>?, _ place: Place) throws(Refusal) -> Struct {
    source == nil ? Struct() : try read(source, place)
}

/// Copies a struct of a known size, such as an array element whose size the first element gives.
func read<Struct: SizedStruct>(_ bytes: UnsafeRawPointer, size: Int) throws(Refusal) -> Struct {
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
    var value = Struct()
    withUnsafeMutableBytes(of: &value) { $0.copyMemory(from: .init(start: bytes, count: min(size, known))) }
    return value
}

/// Checks the `struct_size` of a struct that the library will fill.
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

/// Fills a caller's struct up to its `struct_size`.
/// - Parameter value: its struct_size need not be set.
func fill<Struct: SizedStruct>(
    _ target: UnsafeMutablePointer<Struct>?, _ place: Place, with value: Struct
) throws(Refusal) {
    guard let target else { throw .null(place) }
    // Safety: as in `read`; nothing is written past struct_size.
    let bytes = UnsafeMutableRawPointer(target)
    let size = bytes.loadUnaligned(as: Int.self)
    try checkSize(size, of: Struct.self)
    put(value, at: bytes, size: size)
}

private func put<Struct: SizedStruct>(_ value: Struct, at bytes: UnsafeMutableRawPointer, size: Int) {
    memset(bytes, 0, size)
    withUnsafeBytes(of: value) { value in
        if let start = value.baseAddress { bytes.copyMemory(from: start, byteCount: min(size, value.count)) }
    }
    bytes.storeBytes(of: size, as: Int.self)
}

/// A caller's array of records that the library fills. The `struct_size` of the first record is the size of each.
struct Records<Record: SizedStruct> {
    let capacity: Int
    private let base: UnsafeMutableRawPointer
    private let stride: Int

    /// - Parameter minimum: the smallest size in bytes of a record.
    init(
        _ records: UnsafeMutablePointer<Record>?, _ place: Place, capacity: Int, minimum: Int
    ) throws(Refusal) {
        guard let records else { throw .null(place) }
        guard capacity > 0 else { throw .number("max", capacity, allowed: "at least 1") }
        base = UnsafeMutableRawPointer(records)
        // Safety: as in `read`.
        stride = base.loadUnaligned(as: Int.self)
        try checkSize(stride, of: Record.self, minimum: minimum)
        self.capacity = capacity
    }

    /// Safety: the caller promises `capacity` records of `stride` bytes, and the index is below the capacity.
    func write(_ record: Record, at index: Int) { put(record, at: base + index * stride, size: stride) }
}

// MARK: - Strings in

/// The longest header name or value that is accepted, in bytes.
private let longestField = 65_536

/// Returns the bytes before the NUL; `nil` for NULL. Reads at most `limit` + 1 bytes.
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

/// Returns a header value, or other text that must not have control characters; `nil` if it is invalid or NULL.
func headerValue(_ string: UnsafePointer<CChar>?) -> String? {
    guard let bytes = bytes(of: string, limit: longestField), bytes.count <= longestField, HTTPFields.isValue(bytes)
    else { return nil }
    return String(validating: bytes, as: UTF8.self)
}

/// The fields that say where a body ends (RFC 9112 §6). The library sends them; one that does not fit the body would
/// give later requests on the connection the responses of others.
private let framing = ["Content-Length", "Transfer-Encoding"]

/// Reads a header field of requests to set, or to remove if `value` is NULL.
func headerField(
    _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?, _ namePlace: Place, _ valuePlace: Place
) throws(Refusal) -> (name: String, value: String?) {
    guard let token = headerName(name) else { throw noToken(name, namePlace) }
    guard let value else { return (token, nil) }
    guard !framing.contains(where: { HTTPFields.isSameName($0, token) }) else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, namePlace,
            "\(token) cannot be set: the library sends the one that fits the body")
    }
    guard let text = headerValue(value) else { throw noFieldValue(valuePlace) }
    return (token, text)
}

/// Returns a text of a config, which must not be empty or have control characters; `nil` for NULL.
/// - Parameter isSecret: whether the error message must not show the text.
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

/// Returns a file system path. It must be UTF-8 without control characters, although Linux allows other bytes.
func path(_ string: UnsafePointer<CChar>?, _ place: Place) throws(Refusal) -> String? { try text(string, place) }

/// Returns the refusal of an invalid header field name or method.
func noToken(_ string: UnsafePointer<CChar>?, _ place: Place) -> Refusal {
    if string == nil { return .null(place) }
    return Refusal(
        SDD_ERROR_INVALID_ARGUMENT, place,
        "\(shown(string)) is no token of HTTP: letters, digits and !#$%&'*+-.^_`|~, at most \(longestField)")
}

/// Returns the refusal of an invalid header field value. The message does not show the value, which may be a secret.
func noFieldValue(_ place: Place) -> Refusal {
    Refusal(
        SDD_ERROR_INVALID_ARGUMENT, place,
        "it must be UTF-8 of at most \(longestField) bytes, without control characters")
}

// MARK: - Bytes in

/// Refuses NULL with a size, and a size_t beyond Int's range, which arrives as a negative number.
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

/// Writes as much of a text as there is room for, and a NUL. Never splits a character.
func writeCut(_ text: String, to buffer: UnsafeMutablePointer<CChar>?, capacity: Int) {
    guard let buffer, capacity != 0 else { return }
    var text = text
    while text.utf8.count >= clamped(capacity) { text.removeLast() }
    text.withCString { _ = memcpy(buffer, $0, text.utf8.count + 1) }
}

/// Converts a size_t from C: a value beyond Int's range, which arrives as a negative number, becomes `Int.max`.
func clamped(_ size: Int) -> Int { size < 0 ? Int.max : size }

// MARK: - The application's data

/// A pointer of the application, which the library only passes back to it.
struct AppPointer: @unchecked Sendable {
    // Safety: never dereferenced here; the library only passes it to the application's own functions.
    let pointer: UnsafeMutableRawPointer?

    init(_ pointer: UnsafeMutableRawPointer?) { self.pointer = pointer }
}

/// A pointer of the application with the function that frees it. If the library owns the pointer, the function is
/// called when the last reference to this object is released.
final class AppData: @unchecked Sendable {
    // Safety: `isOwned` is set once, by the thread that made the object, before other threads release their references.
    let pointer: UnsafeMutableRawPointer?
    private let free: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
    private var isOwned = false

    init(_ pointer: UnsafeMutableRawPointer?, free: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?) {
        self.pointer = pointer
        self.free = free
    }

    /// Takes ownership of the pointer. Called once the C call that passed it is certain to succeed.
    func own() { isOwned = true }

    deinit { if isOwned { free?(pointer) } }
}

extension [AppData] {
    func own() { forEach { $0.own() } }
}

/// Runs work on the bytes of an image. If it fails, the call is refused with the reason.
func coded<Value>(_ work: () throws(CoderError) -> Value) throws(Refusal) -> Value {
    try refusing({ Refusal(DownloadError($0)) }, work)
}

/// Returns an image that the library may keep beyond a call, when the memory that an application has lent for it is no
/// longer valid.
func keepable(_ image: Image) throws(Refusal) -> Image {
    try coded { () throws(CoderError) in try image.outlivingLentMemory() }
}

/// Returns the pixels of an image, and decodes them now if necessary.
func decoded(_ image: Image) throws(Refusal) -> PixelBuffer {
    try coded { () throws(CoderError) in try image.decoded() }
}
