/// The urgency of a piece of work. The raw values are those of the public header.
public enum Priority: Int32, Comparable, Sendable, CaseIterable {
    case veryLow = 1
    case low = 2
    case normal = 3
    case high = 4
    case veryHigh = 5

    public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }

    /// The rank from 0, the most urgent, upwards.
    public var rank: Int { Int(Priority.veryHigh.rawValue - rawValue) }

    /// Returns the priority that is `levels` more urgent, up to the highest.
    public func raised(by levels: Int32) -> Priority {
        Priority(rawValue: min(rawValue + levels, Priority.veryHigh.rawValue)) ?? .veryHigh
    }
}
