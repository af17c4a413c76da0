/// How long ago something was, on the disk and by the wall clock, which people set. Pure.
enum DiskAge {
    /// In microseconds. What is from the future is from now; what no number tells is as old as can be.
    static func of(_ date: Int64, at now: Int64) -> Int64 {
        let (age, overflow) = now.subtractingReportingOverflow(min(date, now))
        return overflow ? .max : age
    }
}
