internal import SDDBase

/// The order of transfers of one class.
package enum WaitingOrder: Sendable { case fifo, lifo }

/// The place of a transfer in a `WaitingQueue`; valid until it is removed or started.
struct WaitingPlace {
    /// For an index: none.
    static let none: Int32 = -1

    /// The host's key.
    let host: UInt64
    /// Its index among the host's transfers of its class.
    let index: Int32
    /// Its index among those of them that are prompt.
    var promptIndex = none
    /// Its index among all transfers of its class.
    var ageIndex = none
    let rank: Int8
}

/// Transfers that wait for their turn, and the rule that picks the next: the most urgent class first, within it the
/// first or the last to arrive. Hosts that have as many running as allowed, or that rest since the last start, are
/// skipped. All operations take at most logarithmic time in the number of hosts, however long the queue. A value type
/// without a clock; the caller passes the time, and what it knows each transfer by.
struct WaitingQueue<Waiter> {
    fileprivate struct Entry {
        var waiter: Waiter
        /// The order of arrival.
        let arrival: UInt64
    }

    fileprivate struct Aged {
        var waiter: Waiter
        let since: Int64
    }

    /// A host's next transfer, offered for comparison among hosts: the smallest offer is next.
    private struct Offer: Comparable {
        let rank: Int
        /// The order of arrival, negated if the last to arrive is to be the smallest.
        let order: Int64
        let host: UInt64

        static func < (a: Offer, b: Offer) -> Bool { (a.rank, a.order) < (b.rank, b.order) }
    }

    /// The time until which no transfer to the host is started.
    private struct Rest: Comparable {
        let until: Int64
        let host: UInt64

        static func < (a: Rest, b: Rest) -> Bool { (a.until, a.host) < (b.until, b.host) }
    }

    private final class Host {
        let key: UInt64
        var classes = Array(repeating: LinkedList<Entry>(), count: Priority.allCases.count)
        /// The prompt transfers of each class, which are also in `classes`, see `Job.isPrompt`; empty if there has been
        /// none.
        var promptClasses: [LinkedList<Entry>] = []
        var waiting = 0
        var running = 0
        /// The start of the last transfer, while the host rests.
        var lastStart: Int64 = 0
        /// Whether one of `rests` belongs to this host.
        var isResting = false
        /// The valid one of its `offers`; others of this host are out of date.
        var offer: Offer?
        /// The valid one of its `promptOffers`.
        var promptOffer: Offer?

        init(_ key: UInt64) { self.key = key }
    }

    private var hosts = NumberMap<Host>()
    private var offers = BinaryHeap<Offer>()
    /// The offers of prompt transfers only.
    private var promptOffers = BinaryHeap<Offer>()
    /// One rest for each host that rests.
    private var rests = BinaryHeap<Rest>([])
    private var ages: [LinkedList<Aged>] = Array(repeating: LinkedList(), count: Priority.allCases.count)
    private var lastArrival: UInt64 = 0
    private(set) var count = 0
    /// The number of prompt transfers in `count`.
    private(set) var promptCount = 0

    private(set) var order: WaitingOrder
    private(set) var maxPerHost: Int
    /// Microseconds between two starts to one host.
    private(set) var minInterval: Int64
    /// Microseconds of waiting after which a transfer is raised by one class; 0 means never.
    private let ageing: Int64

    init(
        order: WaitingOrder = .fifo, maxPerHost: Int = .max, minInterval: Int64 = 0, ageing: Int64 = 0
    ) {
        self.order = order
        self.maxPerHost = maxPerHost
        self.minInterval = minInterval
        self.ageing = ageing
    }

    var isEmpty: Bool { count == 0 }
    /// The number of hosts in the table.
    var hostCount: Int { hosts.count }
}

// MARK: - Adding and removing

extension WaitingQueue {
    mutating func append(
        _ waiter: Waiter, host key: UInt64, priority: Priority, isPrompt: Bool = false, at now: Int64
    ) -> WaitingPlace {
        let host = hosts[key] ?? Host(key)
        if host.waiting == 0 && host.running == 0 && !host.isResting { hosts[key] = host }
        lastArrival += 1
        count += 1
        host.waiting += 1
        let rank = priority.rank
        let entry = Entry(waiter: waiter, arrival: lastArrival)
        var place = WaitingPlace(host: key, index: host.classes[rank].append(entry).index, rank: Int8(rank))
        if isPrompt {
            if host.promptClasses.isEmpty {
                host.promptClasses = Array(repeating: LinkedList(), count: Priority.allCases.count)
            }
            place.promptIndex = host.promptClasses[rank].append(entry).index
            promptCount += 1
        }
        if ageing > 0 && rank > 0 { place.ageIndex = ages[rank].append(Aged(waiter: waiter, since: now)).index }
        offerNext(of: host)
        return place
    }

    /// Changes what a transfer that is not prompt is known by.
    mutating func replace(_ place: WaitingPlace, by waiter: Waiter) {
        let rank = Int(place.rank)
        hosts[place.host]?.classes[rank][.init(index: place.index)]?.waiter = waiter
        if place.ageIndex != WaitingPlace.none { ages[rank][.init(index: place.ageIndex)]?.waiter = waiter }
    }

    mutating func remove(_ place: WaitingPlace) {
        guard let host = hosts[place.host] else { return }
        removed(place, from: host)
        forget(host)
    }

    private mutating func removed(_ place: WaitingPlace, from host: Host) {
        let rank = Int(place.rank)
        host.classes[rank].remove(.init(index: place.index))
        if place.ageIndex != WaitingPlace.none { ages[rank].remove(.init(index: place.ageIndex)) }
        if place.promptIndex != WaitingPlace.none {
            host.promptClasses[rank].remove(.init(index: place.promptIndex))
            promptCount -= 1
        }
        count -= 1
        host.waiting -= 1
        offerNext(of: host)
    }

    /// Returns the next transfer of this class or a more urgent one. It stays in the queue until `started`.
    /// - Parameter isPrompt: considers prompt transfers only.
    mutating func next(atLeast priority: Priority, isPrompt: Bool = false) -> Waiter? {
        while let offer = isPrompt ? promptOffers.first : offers.first {
            guard let host = hosts[offer.host], (isPrompt ? host.promptOffer : host.offer) == offer else {
                _ = isPrompt ? promptOffers.popFirst() : offers.popFirst()
                continue
            }
            guard offer.rank <= priority.rank else { return nil }
            return head(of: host, rank: offer.rank, isPrompt: isPrompt)?.waiter
        }
        return nil
    }

    /// Moves a waiting transfer to running: it counts for its host until `ended`.
    mutating func started(_ place: WaitingPlace, at now: Int64) {
        guard let host = hosts[place.host] else { return }
        host.running += 1
        rest(host, from: now, at: now)
        removed(place, from: host)
    }

    /// Records the end of a transfer to this host.
    mutating func ended(host key: UInt64) {
        guard let host = hosts[key] else { return }
        host.running -= 1
        offerNext(of: host)
        forget(host)
    }

    /// Returns a transfer that has waited long enough to be raised, and by how many levels: the oldest of the most
    /// urgent class that has one. Its age restarts when it is appended again.
    func overdue(at now: Int64) -> (waiter: Waiter, levels: Int32)? {
        guard ageing > 0 else { return nil }
        for list in ages {
            guard let oldest = list.first, now - oldest.since >= ageing else { continue }
            return (oldest.waiter, Int32(clamping: min((now - oldest.since) / ageing, Int64(Priority.allCases.count))))
        }
        return nil
    }
}

// MARK: - Changing the rules

extension WaitingQueue {
    mutating func orderChanged(to order: WaitingOrder) {
        self.order = order
        offerAll()
    }

    mutating func maxPerHostChanged(to count: Int) {
        maxPerHost = count
        offerAll()
    }

    mutating func minIntervalChanged(to interval: Int64, at now: Int64) {
        minInterval = interval
        rests = BinaryHeap([])
        for host in hosts.values where host.isResting {
            host.isResting = false
            rest(host, from: host.lastStart, at: now)
        }
        offerAll()
        for host in hosts.values { forget(host) }
    }

    private mutating func offerAll() {
        offers = BinaryHeap()
        promptOffers = BinaryHeap()
        for host in hosts.values {
            (host.offer, host.promptOffer) = (nil, nil)
            offerNext(of: host)
        }
    }
}

// MARK: - Rests

extension WaitingQueue {
    /// Lets a host rest after a start. Host 0 stands for no host, and never rests.
    private mutating func rest(_ host: Host, from start: Int64, at now: Int64) {
        host.lastStart = start
        let (until, isTooLong) = start.addingReportingOverflow(minInterval)
        guard minInterval > 0, host.key != 0, isTooLong || until > now else { return }
        host.isResting = true
        rests.insert(Rest(until: isTooLong ? .max : until, host: host.key))
    }

    /// Ends the rests that are over, and forgets hosts that have no transfers.
    mutating func restsEnded(at now: Int64) {
        while let rest = rests.first, rest.until <= now {
            _ = rests.popFirst()
            guard let host = hosts[rest.host] else { continue }
            host.isResting = false
            offerNext(of: host)
            forget(host)
        }
    }

    /// The time when a waiting transfer may become possible; `Int64.max` means never.
    var nextRestEnd: Int64 { count > 0 ? rests.first?.until ?? .max : .max }
}

// MARK: - Offers

extension WaitingQueue {
    private func head(of host: Host, rank: Int, isPrompt: Bool) -> Entry? {
        switch order {
        case .fifo: isPrompt ? host.promptClasses[rank].first : host.classes[rank].first
        case .lifo: isPrompt ? host.promptClasses[rank].last : host.classes[rank].last
        }
    }

    private mutating func offerNext(of host: Host) {
        let offer = nextOffer(of: host, isPrompt: false)
        if offer != host.offer {
            host.offer = offer
            if let offer { offers.insert(offer) }
            // Out-of-date and repeated offers, of which each append may leave one, are dropped now and then.
            if offers.count > 64, offers.count > 4 * hosts.count {
                offers = BinaryHeap(hosts.values.compactMap { $0.offer })
            }
        }
        guard !host.promptClasses.isEmpty else { return }
        let prompt = nextOffer(of: host, isPrompt: true)
        guard prompt != host.promptOffer else { return }
        host.promptOffer = prompt
        if let prompt { promptOffers.insert(prompt) }
        if promptOffers.count > 64, promptOffers.count > 4 * hosts.count {
            promptOffers = BinaryHeap(hosts.values.compactMap { $0.promptOffer })
        }
    }

    /// Returns a host's next offer; `nil` if it has none, rests, or has as many running as allowed. Host 0 stands for
    /// no host and has no limit.
    private func nextOffer(of host: Host, isPrompt: Bool) -> Offer? {
        guard host.waiting > 0, host.key == 0 || host.running < maxPerHost && !host.isResting else { return nil }
        for rank in host.classes.indices {
            guard let entry = head(of: host, rank: rank, isPrompt: isPrompt) else { continue }
            let arrival = Int64(bitPattern: entry.arrival)
            return Offer(rank: rank, order: order == .fifo ? arrival : -arrival, host: host.key)
        }
        return nil
    }

    private mutating func forget(_ host: Host) {
        if host.waiting == 0 && host.running == 0 && !host.isResting { hosts[host.key] = nil }
    }
}
