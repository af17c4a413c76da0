/// When entries were used, until that is written to their files: a look-up would else cost a write. A value; bounded.
struct UseDates {
    /// Some megabytes of names. Past it the reader that comes next writes them out.
    static let most = 16_384

    private var dates: [String: Int64] = [:]

    subscript(name: String) -> Int64? { dates[name] }

    /// - Returns: whether it is time to write them out.
    mutating func used(_ name: String, at now: Int64) -> Bool {
        dates[name] = now
        return dates.count >= Self.most
    }

    /// Another file has the name now, or none.
    mutating func forget(_ name: String) { dates[name] = nil }

    /// All of them, once.
    mutating func take() -> [String: Int64] {
        defer { dates = [:] }
        return dates
    }
}
