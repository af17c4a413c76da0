import Glibc

/// All values of a name, all fields in order, and new fields from those: what a cache needs. Pure.
extension ResponseFields {
    /// Each field, as it came; the texts are good while this value lives.
    package var all: [(name: Text, value: Text)] {
        guard count > 0, var next = at(0) else { return [] }
        var fields = [next]
        fields.reserveCapacity(count)
        while fields.count < count {
            // The next field lies behind: "name NUL value NUL" is how the block is laid out.
            let name = next.value + strlen(next.value) + 1
            next = (name, name + strlen(name) + 1)
            fields.append(next)
        }
        return fields
    }

    /// The values of that name in the order they came; bytes that are no UTF-8 are replaced.
    package func values(of name: Text) -> [String] {
        withExtendedLifetime(self) {
            all.filter { strcasecmp($0.name, name) == 0 }.map { String(cString: $0.value) }
        }
    }

    /// The bytes of the first value of that name.
    package func bytes(of name: Text) -> [UInt8]? {
        value(of: name).map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }

    /// nil when there is no memory.
    package init?(_ fields: [(name: String, value: String)]) {
        var builder = ResponseFieldsBuilder()
        for field in fields {
            guard builder.append(field.name, field.value) else { return nil }
        }
        self = builder.take()
    }
}

extension ResponseFieldsBuilder {
    /// - Returns: false when there is no memory.
    package mutating func append(_ name: ResponseFields.Text, _ value: ResponseFields.Text) -> Bool {
        append(
            name: UnsafeRawBufferPointer(start: name, count: strlen(name)),
            value: UnsafeRawBufferPointer(start: value, count: strlen(value)))
    }
}
