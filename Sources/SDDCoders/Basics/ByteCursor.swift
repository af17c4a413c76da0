/// Reads bytes in order, and returns `nil` instead of reading past the end. A value.
struct ByteCursor {
    enum Order { case bigEndian, littleEndian }

    private let bytes: UnsafeRawBufferPointer
    private let order: Order
    /// Position of the next byte, never past the end.
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer, _ order: Order = .bigEndian) {
        self.bytes = bytes
        self.order = order
    }

    private var left: Int { bytes.count - offset }

    /// Takes the next `count` bytes.
    /// - Returns: `nil`, without taking any bytes, if fewer are left.
    mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= left else { return nil }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// Takes the bytes up to the next NUL, and the NUL as well. Returns `nil` if there is no NUL.
    mutating func takeText() -> UnsafeRawBufferPointer? {
        guard let end = bytes[offset...].firstIndex(of: 0) else { return nil }
        let text = take(end - offset)
        _ = take(1)
        return text
    }

    /// Goes to a place that lies at or behind the current one.
    /// - Returns: false, without going there, if it lies elsewhere.
    mutating func skip(to place: Int) -> Bool { place >= offset && take(place - offset) != nil }

    mutating func takeRest() -> UnsafeRawBufferPointer {
        defer { offset = bytes.count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset...])
    }

    mutating func number8() -> Int? { take(1).map { Int($0[0]) } }
    mutating func number16() -> Int? { number(UInt16.self) }
    mutating func number32() -> Int? { number(UInt32.self) }

    private mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type) -> Int? {
        guard let digits = take(MemoryLayout<Number>.size) else { return nil }
        let number = digits.loadUnaligned(as: Number.self)
        return Int(order == .bigEndian ? Number(bigEndian: number) : Number(littleEndian: number))
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the bytes after the prefix `name`, or `nil` if the bytes do not begin with it.
    func behind(_ name: StaticString) -> UnsafeRawBufferPointer? {
        let count = name.utf8CodeUnitCount
        guard self.count >= count, zip(self, 0..<count).allSatisfy({ $0 == name.utf8Start[$1] }) else { return nil }
        return UnsafeRawBufferPointer(rebasing: dropFirst(count))
    }
}
