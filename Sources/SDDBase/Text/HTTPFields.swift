/// Header fields of a request in order. Names are compared without regard to case, values are kept as given, and a name
/// may occur more than once. A value type; a copy shares its storage until one of the two changes, so that comparing
/// requests that have only the downloader's own headers costs nothing.
package struct HTTPFields: Hashable, Sendable {
    package struct Field: Hashable, Sendable {
        @ExactText package private(set) var name: String
        @ExactText package private(set) var value: String
    }

    package private(set) var fields: [Field] = []
    /// A hash: equal for equal fields, and almost always different for different ones.
    package private(set) var hashKey: UInt64 = 0

    package init() {}

    /// The value of the first field of that name.
    package subscript(name: String) -> String? {
        fields.first { equalIgnoringCase($0.name, name) }?.value
    }

    /// Returns the values of all fields of that name as one comma-separated value (RFC 9110 §5.2).
    package func combined(_ name: String) -> String? {
        guard let index = fields.firstIndex(where: { equalIgnoringCase($0.name, name) }) else { return nil }
        let others = fields[(index + 1)...].lazy.filter { equalIgnoringCase($0.name, name) }
        return others.reduce(fields[index].value) { $0 + ", " + $1.value }
    }

    /// Replaces the fields of that name with a single one, or adds one at the end; nil removes them.
    package mutating func set(_ name: String, to value: String?) {
        guard let index = fields.firstIndex(where: { equalIgnoringCase($0.name, name) }) else {
            if let value { append(name, value) }
            return
        }
        if fields[(index + 1)...].contains(where: { equalIgnoringCase($0.name, name) }) {
            fields = fields[...index] + fields[(index + 1)...].filter { !equalIgnoringCase($0.name, name) }
        }
        if let value { fields[index] = Field(name: name, value: value) } else { fields.remove(at: index) }
        hashKey = UInt64(truncatingIfNeeded: fields.hashValue)
    }

    /// Adds a field at the end, in addition to any others of that name.
    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
        hashKey = UInt64(truncatingIfNeeded: fields.hashValue)
    }

    package static func isSameName(_ a: String, _ b: String) -> Bool { equalIgnoringCase(a, b) }

    /// Whether the text is a token, as a field name must be (RFC 9110 §5.1).
    package static func isToken(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        !text.isEmpty && text.allSatisfy(isTokenCharacter)
    }

    /// Whether the text has no control character other than TAB (RFC 9110 §5.5). CR, LF and NUL would allow a value to
    /// inject another header or request, and libcurl sends values unchecked.
    package static func isValue(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7f) }
    }

    /// Returns an ASCII letter in lower case, and any other byte as it is.
    package static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
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
    a.utf8.count == b.utf8.count && zip(a.utf8, b.utf8).allSatisfy { HTTPFields.lowered($0) == HTTPFields.lowered($1) }
}
