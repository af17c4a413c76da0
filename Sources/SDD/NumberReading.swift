internal import CSDD

// Numbers of a caller's structs and arguments, checked.

/// 0 is the default; a negative number, or one beyond reason, is refused.
func number<Number: FixedWidthInteger>(
    _ given: Number, _ place: Place, default standard: Number, most: Number
) throws(Refusal) -> Number {
    guard given >= 0, given <= most else {
        throw .number(place, given, allowed: most == Number.max ? "at least 0" : "0 to \(most)")
    }
    return given == 0 ? standard : given
}

/// 0 or 1.
func flag(_ given: Int32, _ place: Place) throws(Refusal) -> Bool {
    guard given == 0 || given == 1 else { throw .number(place, given, allowed: "0 or 1") }
    return given == 1
}

/// One of an enum's numbers.
/// - Parameter prefix: what their names begin with.
func choice<Value>(
    _ given: Int32, _ place: Place, _ prefix: StaticString, _ values: KeyValuePairs<Int, Value>
) throws(Refusal) -> Value {
    for (number, value) in values where number == Int(given) { return value }
    throw .number(place, given, allowed: "one of \(prefix)")
}

/// So many texts in a row.
func list(
    _ texts: UnsafePointer<UnsafePointer<CChar>?>?, _ place: Place, count: Int, _ countPlace: Place
) throws(Refusal) -> [String] {
    guard count != 0 else { return [] }
    guard let texts else { throw .null(place) }
    guard (1...10_000).contains(count) else {
        throw .number(countPlace, UInt(bitPattern: count), allowed: "0 to 10000")
    }
    var list: [String] = []
    // Safety: the header of the library promises `count` of them.
    for (index, entry) in UnsafeBufferPointer(start: texts, count: count).enumerated() {
        guard let entry = try text(entry, place[index]) else { throw .null(place[index]) }
        list.append(entry)
    }
    return list
}
