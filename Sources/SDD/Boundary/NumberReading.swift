internal import CSDD
internal import SDDBase

// Checks for the numbers in a caller's structs and arguments, and the limits that several structs have in common.

/// The largest number of attempts of a request.
let mostAttempts: Int32 = 1000

/// The largest limit on redirects.
let mostRedirects: Int32 = 1000

/// The largest limit on a body, in bytes: 64 TiB.
let largestBody: Int64 = 1 << 46

/// The longest time limit, in milliseconds: some 34 years.
let longestLimit: Int64 = 1 << 40

/// Reads a number: 0 means the default. Refuses negative numbers and those above `most`.
func number<Number: FixedWidthInteger>(
    _ given: Number, _ place: Place, default standard: Number, most: Number
) throws(Refusal) -> Number {
    guard given >= 0, given <= most else {
        throw .number(place, given, allowed: most == Number.max ? "at least 0" : "0 to \(most)")
    }
    return given == 0 ? standard : given
}

/// Reads a flag, which must be 0 or 1.
func flag(_ given: Int32, _ place: Place) throws(Refusal) -> Bool {
    guard given == 0 || given == 1 else { throw .number(place, given, allowed: "0 or 1") }
    return given == 1
}

/// Reads one of the constants of an enumeration.
/// - Parameter prefix: the common prefix of their names.
func choice<Value>(
    _ given: Int32, _ place: Place, _ prefix: StaticString, _ values: KeyValuePairs<Int, Value>
) throws(Refusal) -> Value {
    for (number, value) in values where number == Int(given) { return value }
    throw .number(place, given, allowed: "one of \(prefix)")
}

/// Reads a priority: 0 means the default.
func priority(
    _ given: sdd_priority, _ place: Place, default standard: Priority = .normal
) throws(Refusal) -> Priority {
    if given == 0 { return standard }
    guard let known = Priority(rawValue: given) else {
        throw .number(place, given, allowed: "0 or one of SDD_PRIORITY_")
    }
    return known
}

/// Reads an array of `count` texts.
func list(
    _ texts: UnsafePointer<UnsafePointer<CChar>?>?, _ place: Place, count: Int, _ countPlace: Place
) throws(Refusal) -> [String] {
    guard count != 0 else { return [] }
    guard let texts else { throw .null(place) }
    guard (1...10_000).contains(count) else {
        throw .number(countPlace, UInt(bitPattern: count), allowed: "0 to 10000")
    }
    var list: [String] = []
    // Safety: the library's header requires `count` elements.
    for (index, entry) in UnsafeBufferPointer(start: texts, count: count).enumerated() {
        guard let entry = try text(entry, place[index]) else { throw .null(place[index]) }
        list.append(entry)
    }
    return list
}
