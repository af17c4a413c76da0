/// Ages by the wall clock, which may be set forward or back. Pure.
enum DiskAge {
    /// Returns the age in microseconds. A date in the future counts as now; an age that overflows counts as the oldest
    /// possible.
    static func of(_ date: Int64, at now: Int64) -> Int64 {
        let (age, overflow) = now.subtractingReportingOverflow(min(date, now))
        return overflow ? .max : age
    }
}
