/// Chooses the entries that a trim removes. Pure.
struct TrimPlan {
    /// Indexes in `entries`: the expired ones first, then the oldest.
    let victims: [Int]

    init(_ entries: [DirectoryScan.Entry], limits: DiskLimits, now: Int64) {
        // A date in the future counts as now; the order among such entries does not matter.
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
            // Names are compared only for equal dates, since comparing them costs more than everything else.
            kept.sort { a, b in
                dates[a] == dates[b] ? entries[a].name < entries[b].name : dates[a] < dates[b]
            }
            for index in kept {
                if total.bytes <= low { break }
                victims.append(index)
                total = total + -DiskTotals(bytes: entries[index].allocated)
            }
        }
        self.victims = victims
    }
}
