/// Chooses the entries that a trim removes. Pure.
struct TrimPlan {
    /// Indexes in `entries`: the expired ones first, then those from the future, then the oldest.
    let victims: [Int]

    init(_ entries: [DirectoryScan.Entry], limits: DiskLimits, now: Int64) {
        let dates = entries.map { limits.date(used: $0.used, stored: $0.modified) }
        // An entry from the future was stored while the clock was wrong: it must not outlive those that came later.
        let order = dates.map { $0 > now ? .min : $0 }
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
                order[a] == order[b] ? entries[a].name < entries[b].name : order[a] < order[b]
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
