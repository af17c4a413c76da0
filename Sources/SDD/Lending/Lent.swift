internal import SDDBase

/// A struct in memory that C code reads, freed with the last reference.
final class Lent<Record> {
    private let place = UnsafeMutablePointer<Record>.allocate(capacity: 1)

    init(_ record: Record) { place.initialize(to: record) }

    deinit { place.deallocate() }

    var pointer: UnsafePointer<Record> { UnsafePointer(place) }
}

extension [CText] {
    /// Returns a copy of a text, valid while this list has it.
    mutating func keep(_ text: String) -> UnsafePointer<CChar>? {
        let text = CText(text)
        append(text)
        return text.pointer
    }
}
