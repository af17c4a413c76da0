internal import SDDBase

/// Reads big-endian numbers from untrusted bytes. Returns nil past the end.
struct BytesReading {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
        guard let bytes = take(Number.bitWidth / 8) else { return nil }
        return Number(bigEndian: bytes.loadUnaligned(as: Number.self))
    }

    mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
        return UnsafeRawBufferPointer(rebasing: rest[..<count])
    }
}

extension [UInt8] {
    /// Appends a number in big-endian order.
    mutating func append(number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}

extension Bytes {
    /// Copies an array for a call that takes pointers. Returns nil when there is no memory.
    package convenience init?(_ array: [UInt8]) {
        guard let place = FileMemory(size: array.count) else { return nil }
        place.place.copyBytes(from: array)
        self.init(adopting: place.base, count: array.count, capacity: place.capacity)
    }
}
