import Glibc

/// Accessors that the caches need: all values of a name, all fields in order, and new fields from those. Pure.
extension ResponseFields {
    /// All fields as they came. The texts are valid while this value lives.
    package var all: [(name: Text, value: Text)] {
        var fields: [(name: Text, value: Text)] = []
        fields.reserveCapacity(count)
        forEach { fields.append(($0, $1)) }
        return fields
    }

    private func forEach(_ body: (_ name: Text, _ value: Text) -> Void) {
        guard let first = at(0) else { return }
        var (name, value) = (first.name, first.value)
        for index in 0..<count {
            body(name, value)
            if index + 1 == count { return }
            // The next field follows directly, since the block's layout is "name NUL value NUL".
            name = value + strlen(value) + 1
            value = name + strlen(name) + 1
        }
    }

    /// Returns the values of that name in the order they came. Bytes that are not UTF-8 are replaced.
    package func values(of name: Text) -> [String] {
        withExtendedLifetime(self) {
            var values: [String] = []
            forEach { if strcasecmp($0, name) == 0 { values.append(String(cString: $1)) } }
            return values
        }
    }

    /// Returns the bytes of the first value of that name.
    package func bytes(of name: Text) -> [UInt8]? {
        value(of: name).map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }

    /// Builds fields from texts. Returns nil when there is no memory.
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
