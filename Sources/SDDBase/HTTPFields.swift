/// Header fields of a request: ordered, names compared without regard to case, values as given. A name may come more than
/// once. A value; a copy shares its storage until one of the two changes, so that requests with the downloader's own
/// headers cost nothing to compare.
package struct HTTPFields: Hashable, Sendable {
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    package private(set) var fields: [Field] = []
    /// The same for equal ones, and mostly another for others.
    package private(set) var number: UInt64 = 0

    package init() {}

    /// The first of that name.
    package subscript(name: String) -> String? {
        fields.first { equalIgnoringCase($0.name, name) }?.value
    }

    /// All of that name as one value: RFC 9110 §5.2.
    package func combined(_ name: String) -> String? {
        guard let index = fields.firstIndex(where: { equalIgnoringCase($0.name, name) }) else { return nil }
        let others = fields[(index + 1)...].lazy.filter { equalIgnoringCase($0.name, name) }
        return others.reduce(fields[index].value) { $0 + ", " + $1.value }
    }

    /// Replaces the fields of that name by one, or adds one at the end; nil removes them.
    package mutating func set(_ name: String, to value: String?) {
        guard let index = fields.firstIndex(where: { equalIgnoringCase($0.name, name) }) else {
            if let value { append(name, value) }
            return
        }
        if fields[(index + 1)...].contains(where: { equalIgnoringCase($0.name, name) }) {
            fields = fields[...index] + fields[(index + 1)...].filter { !equalIgnoringCase($0.name, name) }
        }
        if let value { fields[index] = Field(name: name, value: value) } else { fields.remove(at: index) }
        number = UInt64(truncatingIfNeeded: fields.hashValue)
    }

    /// Adds a field at the end, beside others of that name.
    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
        number = UInt64(truncatingIfNeeded: fields.hashValue)
    }

    package static func isSameName(_ a: String, _ b: String) -> Bool { equalIgnoringCase(a, b) }

    /// RFC 9110 §5.1: a field name is a token.
    package static func isToken(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        !text.isEmpty && text.allSatisfy(isTokenCharacter)
    }

    /// RFC 9110 §5.5: no control characters but TAB. CR, LF and NUL would let a value start a header, or
    /// a request, of its own, and libcurl sends what it is given.
    package static func isValue(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7f) }
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

private func equalIgnoringCase(_ a: String, _ b: String) -> Bool {
    a.utf8.count == b.utf8.count && zip(a.utf8, b.utf8).allSatisfy { lowered($0) == lowered($1) }
}

private func lowered(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
}
