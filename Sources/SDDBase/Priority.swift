/// How urgent a piece of work is; the numbers are the header's.
package enum Priority: Int32, Comparable, Sendable, CaseIterable {
    case veryLow = 1
    case low = 2
    case normal = 3
    case high = 4
    case veryHigh = 5

    package static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }

    /// From 0, the most urgent first.
    package var rank: Int { Int(Priority.veryHigh.rawValue - rawValue) }

    /// So many levels more urgent, or the most urgent there is.
    package func raised(by levels: Int32) -> Priority {
        Priority(rawValue: min(rawValue + levels, Priority.veryHigh.rawValue)) ?? .veryHigh
    }
}
