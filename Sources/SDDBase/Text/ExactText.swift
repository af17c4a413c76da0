internal import Glibc

/// Text that equals another only if all bytes are equal. Swift's `String` also takes canonically equivalent texts as
/// equal, such as "é" as one character and as two, which a server or a cache must tell apart. As a property wrapper, or
/// as the key of a dictionary.
@propertyWrapper
package struct ExactText<Text: ComparedByBytes & Sendable>: Hashable, Sendable {
    package var wrappedValue: Text

    package init(wrappedValue: Text) { self.wrappedValue = wrappedValue }

    package init(_ text: Text) { wrappedValue = text }

    package static func == (a: Self, b: Self) -> Bool { a.wrappedValue.hasSameBytes(as: b.wrappedValue) }

    package func hash(into hasher: inout Hasher) { wrappedValue.hashBytes(into: &hasher) }
}

package protocol ComparedByBytes {
    func hasSameBytes(as other: Self) -> Bool
    func hashBytes(into hasher: inout Hasher)
}

extension String: ComparedByBytes {
    package func hasSameBytes(as other: String) -> Bool {
        let count = utf8.count
        guard count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { a in
            other.utf8.withContiguousStorageIfAvailable { b in
                guard let a = a.baseAddress, let b = b.baseAddress else { return true }
                return memcmp(a, b, count) == 0
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8.max)
    }
}

extension Optional: ComparedByBytes where Wrapped: ComparedByBytes {
    package func hasSameBytes(as other: Wrapped?) -> Bool {
        guard let self, let other else { return self == nil && other == nil }
        return self.hasSameBytes(as: other)
    }

    package func hashBytes(into hasher: inout Hasher) {
        hasher.combine(self != nil)
        self?.hashBytes(into: &hasher)
    }
}

extension Array: ComparedByBytes where Element: ComparedByBytes {
    package func hasSameBytes(as other: [Element]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.hasSameBytes(as: $1) }
    }

    package func hashBytes(into hasher: inout Hasher) {
        hasher.combine(count)
        for element in self { element.hashBytes(into: &hasher) }
    }
}
