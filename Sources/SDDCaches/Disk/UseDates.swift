/// The times at which entries were used, collected until they are written to the files, so that a lookup does not cost
/// a write. A value type of bounded size.
struct UseDates {
    /// The number of entries from which the next reader writes the times out; their names take some megabytes.
    static let most = 16_384

    private var dates: [String: Int64] = [:]

    subscript(name: String) -> Int64? { dates[name] }

    /// - Returns: whether the times should be written out now.
    mutating func used(_ name: String, at now: Int64) -> Bool {
        dates[name] = now
        return dates.count >= Self.most
    }

    /// Forgets a use, because the name now belongs to another file or to none.
    mutating func forget(_ name: String) { dates[name] = nil }

    /// Returns all times and forgets them.
    mutating func take() -> [String: Int64] {
        defer { dates = [:] }
        return dates
    }
}
