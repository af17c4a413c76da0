internal import SDDTransport
internal import SDDBase

/// Transfers that wait for their turn, and the rule whose turn it is: the most urgent class first, inside it
/// the first or the last that came, but none to a host that has as many running as it may, or that rests since the last
/// one began. All operations cost the logarithm of the hosts at most, however long the queue. A value; it knows no clock
/// but the times it is given.
struct WaitingQueue {
    enum Order: Sendable { case fifo, lifo }

    /// Where a transfer stands. Good until it is removed or popped.
    struct Place {
        fileprivate let host: Host
        fileprivate let rank: Int
        fileprivate let place: LinkedList<Entry>.Place
        /// Among the prompt ones.
        fileprivate let prompt: LinkedList<Entry>.Place?
        fileprivate let age: LinkedList<Aged>.Place?
    }

    fileprivate struct Entry {
        let id: TransferID
        /// Of its arrival in its class.
        let number: UInt64
    }

    fileprivate struct Aged {
        let id: TransferID
        let since: Int64
    }

    /// What a host has to offer: its next transfer. Among hosts, the smallest offer is next.
    fileprivate struct Offer: Comparable {
        let rank: Int
        /// Of the arrival: negative to make the last one the smallest.
        let order: Int64
        let host: UInt64

        static func < (a: Offer, b: Offer) -> Bool { (a.rank, a.order) < (b.rank, b.order) }
    }

    /// Until then none is started to that host.
    private struct Rest: Comparable {
        let until: Int64
        let host: UInt64

        static func < (a: Rest, b: Rest) -> Bool { (a.until, a.host) < (b.until, b.host) }
    }

    fileprivate final class Host {
        let number: UInt64
        var classes = Array(repeating: LinkedList<Entry>(), count: Priority.allCases.count)
        /// The prompt ones of each class once more, see `Job.isPrompt`; empty where there never was one.
        var promptClasses: [LinkedList<Entry>] = []
        var waiting = 0
        var running = 0
        /// When the last one began, while it rests.
        var lastStart: Int64 = 0
        /// One of `rests` is its.
        var isResting = false
        /// The one among `offers` that counts: others of this host are out of date.
        var offer: Offer?
        /// Likewise among `promptOffers`.
        var promptOffer: Offer?

        init(_ number: UInt64) { self.number = number }
    }

    private var hosts = NumberMap<Host>()
    private var offers = BinaryHeap<Offer>()
    /// What hosts have to offer of prompt transfers alone.
    private var promptOffers = BinaryHeap<Offer>()
    /// One for each host that rests.
    private var rests = BinaryHeap<Rest>([])
    private var ages: [LinkedList<Aged>] = Array(repeating: LinkedList(), count: Priority.allCases.count)
    private var lastNumber: UInt64 = 0
    private(set) var count = 0
    /// Those of `count` that are prompt.
    private(set) var promptCount = 0

    private(set) var order: Order
    private(set) var maxPerHost: Int
    /// Microseconds between two starts to one host.
    private(set) var minInterval: Int64
    /// Microseconds after which a transfer is raised by one class; 0: never.
    private let ageing: Int64

    init(order: Order = .fifo, maxPerHost: Int = .max, minInterval: Int64 = 0, ageing: Int64 = 0) {
        self.order = order
        self.maxPerHost = maxPerHost
        self.minInterval = minInterval
        self.ageing = ageing
    }

    var isEmpty: Bool { count == 0 }
    /// Those that are remembered.
    var hostCount: Int { hosts.count }
}

// MARK: - In and out

extension WaitingQueue {
    mutating func append(
        _ id: TransferID, host number: UInt64, priority: Priority, isPrompt: Bool = false, at now: Int64
    ) -> Place {
        let host = hosts[number] ?? Host(number)
        if host.waiting == 0 && host.running == 0 && !host.isResting { hosts[number] = host }
        lastNumber += 1
        count += 1
        host.waiting += 1
        let rank = priority.rank
        let entry = Entry(id: id, number: lastNumber)
        let place = host.classes[rank].append(entry)
        if isPrompt, host.promptClasses.isEmpty {
            host.promptClasses = Array(repeating: LinkedList(), count: Priority.allCases.count)
        }
        let prompt = isPrompt ? host.promptClasses[rank].append(entry) : nil
        if isPrompt { promptCount += 1 }
        let age = ageing > 0 && rank > 0 ? ages[rank].append(Aged(id: id, since: now)) : nil
        offerNext(of: host)
        return Place(host: host, rank: rank, place: place, prompt: prompt, age: age)
    }

    mutating func remove(_ place: Place) {
        let host = place.host
        host.classes[place.rank].remove(place.place)
        removed(place, from: host)
    }

    private mutating func removed(_ place: Place, from host: Host) {
        if let age = place.age { ages[place.rank].remove(age) }
        if let prompt = place.prompt {
            host.promptClasses[place.rank].remove(prompt)
            promptCount -= 1
        }
        count -= 1
        host.waiting -= 1
        offerNext(of: host)
        forget(host)
    }

    /// The transfer whose turn it is, of this class or a more urgent one. It stays, until `started`.
    /// - Parameter isPrompt: of prompt ones alone.
    mutating func next(atLeast priority: Priority, isPrompt: Bool = false) -> TransferID? {
        while let offer = isPrompt ? promptOffers.first : offers.first {
            guard let host = hosts[offer.host], (isPrompt ? host.promptOffer : host.offer) == offer else {
                _ = isPrompt ? promptOffers.popFirst() : offers.popFirst()
                continue
            }
            guard offer.rank <= priority.rank else { return nil }
            return head(of: host, rank: offer.rank, isPrompt: isPrompt)?.id
        }
        return nil
    }

    /// A waiting transfer begins, and counts for its host until `ended`.
    mutating func started(_ place: Place, at now: Int64) {
        let host = place.host
        host.running += 1
        rest(host, from: now, at: now)
        host.classes[place.rank].remove(place.place)
        removed(place, from: host)
    }

    /// One that ran to this host does not any more.
    mutating func ended(host number: UInt64) {
        guard let host = hosts[number] else { return }
        host.running -= 1
        offerNext(of: host)
        forget(host)
    }

    /// The transfer that has waited longest of those that are to be raised, and by how many levels; its age begins
    /// afresh when it is appended again.
    func overdue(at now: Int64) -> (id: TransferID, levels: Int32)? {
        guard ageing > 0 else { return nil }
        for list in ages {
            guard let oldest = list.first, now - oldest.since >= ageing else { continue }
            return (oldest.id, Int32(clamping: min((now - oldest.since) / ageing, Int64(Priority.allCases.count))))
        }
        return nil
    }
}

// MARK: - Rules that change

extension WaitingQueue {
    mutating func orderChanged(to order: Order) {
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
    /// 0 is no host at all, and never rests.
    private mutating func rest(_ host: Host, from start: Int64, at now: Int64) {
        host.lastStart = start
        let (until, isTooLong) = start.addingReportingOverflow(minInterval)
        guard minInterval > 0, host.number != 0, isTooLong || until > now else { return }
        host.isResting = true
        rests.insert(Rest(until: isTooLong ? .max : until, host: host.number))
    }

    /// Hosts that have rested enough may have the next; those that nobody wants anything of are forgotten.
    mutating func restsEnded(at now: Int64) {
        while let rest = rests.first, rest.until <= now {
            _ = rests.popFirst()
            guard let host = hosts[rest.host] else { continue }
            host.isResting = false
            offerNext(of: host)
            forget(host)
        }
    }

    /// When something that waits may begin to be possible; `Int64.max` for never.
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
            // Out-of-date offers and repeated ones, of which there may be one for each append, are thrown away now and
            // then.
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

    /// nil when it has nothing, or as many running as it may. 0 is no host at all, and has no limit.
    private func nextOffer(of host: Host, isPrompt: Bool) -> Offer? {
        guard host.waiting > 0, host.number == 0 || host.running < maxPerHost && !host.isResting else { return nil }
        for rank in host.classes.indices {
            guard let entry = head(of: host, rank: rank, isPrompt: isPrompt) else { continue }
            let arrival = Int64(bitPattern: entry.number)
            return Offer(rank: rank, order: order == .fifo ? arrival : -arrival, host: host.number)
        }
        return nil
    }

    private mutating func forget(_ host: Host) {
        if host.waiting == 0 && host.running == 0 && !host.isResting { hosts[host.number] = nil }
    }
}
