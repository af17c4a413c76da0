internal import SDDCoders

/// Counts of a batch's ended items: in all, by kind of end, and by host. A value type; `Batch` keeps it under its lock.
package struct BatchCounts: Sendable {
    /// The way an item ended; items that ended alike share one kind.
    package struct Kind: Hashable, Sendable {
        /// `nil` means the item succeeded.
        package let code: DownloadError.Code?
        package let detail: DownloadError.Detail
        package let httpStatus: Int32
    }

    package struct Host: Sendable {
        package var items: Int64 = 0
        package var failed: Int64 = 0
        package var bytes: Int64 = 0
        /// Time of all its items together, each from its submission to its end.
        package var microseconds: Int64 = 0
    }

    package private(set) var items: Int64 = 0
    package private(set) var succeeded: Int64 = 0
    package private(set) var cancelled: Int64 = 0
    package private(set) var bytes: Int64 = 0
    package private(set) var pixels: Int64 = 0
    /// Counts by kind, in order of first occurrence.
    package var kinds: [(kind: Kind, items: Int64)] { counted.filter { $0.items > 0 } }
    private var counted: [(kind: Kind, items: Int64)] = []
    /// Counts by host, in order of first occurrence. URLs may name any number of hosts: after `mostHosts`, all others
    /// share the last record.
    package private(set) var hosts: [(name: String, host: Host)] = []

    /// Most hosts that have a record of their own.
    static var mostHosts: Int { 1000 }
    package static var otherHosts: String { "(other)" }

    private var kindPlaces: [Kind: Int] = [:]
    private var hostPlaces: [String: Int] = [:]

    package var failed: Int64 { items - succeeded - cancelled }

    mutating func count(_ result: DownloadResult, of host: String) {
        let kind = Kind(result, result.error)
        items += 1
        if kind.code == nil { succeeded += 1 }
        if kind.code == .cancelled { cancelled += 1 }
        bytes &+= result.metrics.bodyBytes
        if let image = result.image { pixels &+= Int64(image.width) &* Int64(image.height) }
        count(kind)
        count(result, at: place(of: host))
    }

    /// Counts an item as failed that was counted as succeeded: its pixels did not get into its slot.
    mutating func correct(_ result: DownloadResult, of host: String, to error: DownloadError) {
        succeeded -= 1
        if let place = kindPlaces[Kind(result, nil)] { counted[place].items -= 1 }
        count(Kind(result, error))
        hosts[place(of: host)].host.failed += 1
    }

    private mutating func count(_ kind: Kind) {
        if let place = kindPlaces[kind] {
            counted[place].items += 1
        } else {
            kindPlaces[kind] = counted.count
            counted.append((kind, 1))
        }
    }

    private mutating func count(_ result: DownloadResult, at place: Int) {
        hosts[place].host.items += 1
        if result.error != nil { hosts[place].host.failed += 1 }
        hosts[place].host.bytes &+= result.metrics.bodyBytes
        hosts[place].host.microseconds &+= result.timings.total
    }

    private mutating func place(of host: String) -> Int {
        let name = hostPlaces.count < Self.mostHosts || hostPlaces[host] != nil ? host : Self.otherHosts
        if let place = hostPlaces[name] { return place }
        hostPlaces[name] = hosts.count
        hosts.append((name, Host()))
        return hosts.count - 1
    }
}

extension BatchCounts.Kind {
    fileprivate init(_ result: DownloadResult, _ error: DownloadError?) {
        self.init(code: error?.code, detail: error?.detail ?? .none, httpStatus: result.httpStatus)
    }
}
