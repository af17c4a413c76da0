/// A struct in memory that C code reads, freed with the last reference.
final class Lent<Record> {
    private let place = UnsafeMutablePointer<Record>.allocate(capacity: 1)

    init(_ record: Record) { place.initialize(to: record) }

    deinit { place.deallocate() }

    var pointer: UnsafePointer<Record> { UnsafePointer(place) }
}
