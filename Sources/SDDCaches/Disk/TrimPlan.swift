/// Which entries are to go. Pure.
struct TrimPlan {
    /// Places in `entries`, of the expired ones first, then of the oldest.
    let victims: [Int]

    init(_ entries: [DirectoryScan.Entry], limits: DiskLimits, now: Int64) {
        // What is from the future is from now; in what order such go is all one.
        let dates = entries.map { min(limits.date(used: $0.used, stored: $0.modified), now) }
        var victims: [Int] = []
        var kept: [Int] = []
        var total = DiskTotals()
        for index in entries.indices {
            if limits.isExpired(dates[index], at: now) {
                victims.append(index)
            } else {
                kept.append(index)
                total = total + DiskTotals(bytes: entries[index].allocated)
            }
        }
        if let most = limits.maxBytes, let low = limits.lowWater, total.bytes > most {
            kept.sort { (dates[$0], entries[$0].name) < (dates[$1], entries[$1].name) }
            for index in kept {
                if total.bytes <= low { break }
                victims.append(index)
                total = total + -DiskTotals(bytes: entries[index].allocated)
            }
        }
        self.victims = victims
    }
}
