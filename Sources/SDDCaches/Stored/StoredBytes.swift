internal import SDDBase

/// Reads from the front; returns nil once too few bytes are left. A value type.
struct StoredBytes {
    private var reading: BytesReading

    init(_ bytes: UnsafeRawBufferPointer) { reading = BytesReading(bytes) }

    var isAtEnd: Bool { reading.isAtEnd }

    /// Reads a little-endian number; `BytesReading` reads big-endian ones.
    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        reading.number(type)?.byteSwapped
    }

    mutating func piece() -> UnsafeRawBufferPointer? {
        number(UInt32.self).flatMap { Int(exactly: $0) }.flatMap { reading.take($0) }
    }

    mutating func range() -> Range<Int64>? {
        guard let first = number(Int64.self), let end = number(Int64.self), 0 <= first, first < end else { return nil }
        return first..<end
    }

    mutating func text() -> String? { piece().flatMap { String(validating: $0, as: UTF8.self) } }

    mutating func fields() -> ResponseFields? {
        guard let count = number(UInt32.self) else { return nil }
        var builder = ResponseFieldsBuilder()
        for _ in 0..<count {
            // NUL ends a text in the fields' block, so encoded texts never contain it.
            guard let name = piece(), let value = piece(), !name.contains(0), !value.contains(0),
                builder.append(name: name, value: value)
            else { return nil }
        }
        return builder.take()
    }

    mutating func selecting() -> [SelectingField]? {
        guard let count = number(UInt32.self) else { return nil }
        var fields: [SelectingField] = []
        for _ in 0..<count {
            guard let name = text(), let hasValue = number(UInt8.self), hasValue <= 1 else { return nil }
            let value = hasValue == 1 ? text() : nil
            guard hasValue == 0 || value != nil else { return nil }
            fields.append(SelectingField(name: name, value: value))
        }
        return fields
    }
}
