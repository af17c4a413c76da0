import SDDBase
import SDDCaches
import SDDTransport

/// One HTTP cache lookup in progress: looks at the stored responses; once the request's turn comes, asks for the claim
/// to download among all processes; and if another process has the claim, looks for the entry that it stores.
/// Immutable; works on the sdd-disk threads.
package final class HTTPLookupJob: Sendable {
    typealias Answer = @Sendable (LookupResult) -> Void

    private let lookup: HTTPCacheLookup
    private let disk: DiskCache
    private let isOffline: Bool
    private let distrustsStored: Bool
    /// The downloader's stores, of which so many are to be made before it is certain that there is no entry.
    private let stores: StoreProgress?
    private let decided: UInt64
    /// The lock of another process that this lookup waits for.
    private let awaited: UInt64?
    /// When another process was first found downloading, in microseconds.
    private let busySince: Int64
    /// Milliseconds until the next check.
    private let pause: Int64

    init(_ lookup: HTTPCacheLookup, _ disk: DiskCache, _ context: LookupContext) {
        self.lookup = lookup
        self.disk = disk
        isOffline = lookup.isOffline(context)
        distrustsStored = context.distrustsStored
        stores = context.stores
        decided = context.stores?.decided ?? 0
        awaited = nil
        busySince = 0
        pause = 2
    }

    private init(after other: HTTPLookupJob, awaiting lock: UInt64) {
        lookup = other.lookup
        disk = other.disk
        isOffline = other.isOffline
        distrustsStored = other.distrustsStored
        stores = other.stores
        decided = other.decided
        awaited = lock == 0 ? other.awaited ?? 0 : lock
        busySince = other.awaited == nil ? other.lookup.cache.time.monotonicMicroseconds() : other.busySince
        pause = other.awaited == nil ? 2 : min(other.pause * 2, 50)
    }

    /// Looks for a stored response before the request is queued.
    /// - Parameter wish: the caller's; if it is withdrawn before, there is no answer.
    func look(for wish: DiskRead?, answer: @escaping Answer) {
        // The lookup for an image in the cache came before this one, and found nothing.
        guard isHTTP else { return answer(.turn(self)) }
        disk.read(for: wish) { [self] in
            let entries = readEntries()
            let said = self.answer(by: entries)
            if let result = result(said, entries) { return answer(result) }
            // Without a claim to ask for, there is no reason to look again later.
            answer(isShared && said != .bypass ? .turn(self) : goOn(entries, said, claimed: nil))
        }
    }

    /// Asks for the claim to download, once the request's turn has come.
    func claim(answer: @escaping Answer) { disk.read { [self] in answer(claimed()) } }

    /// Checks again, after a pause, while another process downloads.
    func lookLater(answer: @escaping Answer) {
        disk.read(afterMilliseconds: pause) { [self] in
            if let result = lookAgain().2 { return answer(shared(result)) }
            let lock = disk.store.downloads.owner(of: lookup.key)
            // If no other process downloads any more, or it takes too long, the request waits for its turn again.
            guard let lock, !isOver, !isAnother(lock), !disk.isStopping else { return answer(.turn(self)) }
            HTTPLookupJob(after: self, awaiting: lock).lookLater(answer: answer)
        }
    }
}

// MARK: - The claim to download

extension HTTPLookupJob {
    /// Takes the claim: one process downloads, the others wait for its entry.
    private func claimed() -> LookupResult {
        Trace.step("claim the key among processes")
        guard isShared, !disk.isStopping else { return unclaimed() }
        if let stores, stores.settled < decided, !isOver { return .busy(HTTPLookupJob(after: self, awaiting: 0)) }
        switch disk.store.downloads.claim(lookup.key) {
        case .owned(let claim): return owned(claim)
        case .unavailable: return unclaimed()
        case .busy(let lock):
            return isOver || isAnother(lock) ? unclaimed() : .busy(HTTPLookupJob(after: self, awaiting: lock))
        }
    }

    /// Looks again, since the entry may have arrived before the claim was taken.
    private func owned(_ claim: DownloadClaim) -> LookupResult {
        let (entries, said, result) = lookAgain()
        guard let result else { return goOn(entries, said, claimed: claim) }
        claim.release()
        return shared(result)
    }

    private func unclaimed() -> LookupResult {
        guard isHTTP else { return goOn(HTTPCacheLookup.Entries(), nil, claimed: nil) }
        let (entries, said, result) = lookAgain()
        return result ?? goOn(entries, said, claimed: nil)
    }

    private func lookAgain() -> (HTTPCacheLookup.Entries, CacheAnswer?, LookupResult?) {
        if isHTTP {
            let entries = readEntries()
            let said = answer(by: entries)
            return (entries, said, result(said, entries))
        }
        guard let entry = disk.read(lookup.key),
            let selection = lookup.cache.selection(of: entry, lookup.request.headers)
        else { return (HTTPCacheLookup.Entries(), nil, nil) }
        let found = CacheHit(body: entry.body, origin: .disk)
        found.extended = entry.extended
        found.selection = selection.bytes
        return (HTTPCacheLookup.Entries(), nil, .found(found))
    }

    /// Whether HTTP's rules decide; otherwise this is an image lookup, or only looks for a part to resume.
    private var isHTTP: Bool { lookup.wishes.contains(.http) && !lookup.wishes.contains(.pictures) }

    /// Whether processes wait for one another: not for a part of a body, which the others may not want.
    private var isShared: Bool {
        lookup.cache.shareWait != nil && lookup.request.range == nil && (isHTTP || lookup.wishes.contains(.pictures))
    }

    private var isOver: Bool {
        guard awaited != nil, let limit = lookup.cache.shareWait else { return false }
        return lookup.cache.time.monotonicMicroseconds() - busySince > limit
    }

    /// True if the lock has changed hands without an entry being stored: the response is not cacheable, so waiting is
    /// no use.
    private func isAnother(_ lock: UInt64) -> Bool {
        awaited.map { $0 != 0 && lock != 0 && $0 != lock } ?? false
    }

    private func shared(_ result: LookupResult) -> LookupResult {
        lookup.cache.counters.add(.sharedDownloads, 1)
        return result
    }
}

// MARK: - Applying the caching rules

extension HTTPLookupJob {
    private func readEntries() -> HTTPCacheLookup.Entries {
        var entries = lookup.entries(disk, isOffline: isOffline)
        if distrustsStored { entries.selected = nil }
        return entries
    }

    private func answer(by entries: HTTPCacheLookup.Entries) -> CacheAnswer {
        var request = lookup.request
        request.isOffline = isOffline
        if isOffline, lookup.wishes.isSuperset(of: [.asksServer, .ignoresCached]) { return .unavailable }
        let answer = CacheRules.answer(to: request, stored: entries.selected?.response, now: lookup.cache.now)
        guard let stored = entries.selected, !isOffline else { return answer }
        switch answer {
        case .fresh, .stale, .staleWhileRevalidate:
            // The redirects that led there are responses of their own (RFC 9111 §4), and were not stored.
            if !lookup.isOwn(stored.response.url) || isWorthAsking(answer) {
                return request.cacheControl.isOnlyIfCached
                    ? .unavailable
                    : .validate(conditions: CacheRules.conditions(of: stored.response), mayServeIfError: false)
            }
            return answer
        default: return answer
        }
    }

    /// Whether to ask the server although the stored response could be served: the caller wants the server's answer.
    private func isWorthAsking(_ answer: CacheAnswer) -> Bool {
        if lookup.wishes.contains(.asksServer) { return true }
        if lookup.wishes.contains(.revalidates) { return !answer.isFresh }
        guard lookup.wishes.contains(.ignoresCached), case .staleWhileRevalidate = answer else { return false }
        return true
    }

    /// Returns the answer from the cache; `nil` means the request goes to the network.
    private func result(_ said: CacheAnswer, _ entries: HTTPCacheLookup.Entries) -> LookupResult? {
        let counters = lookup.cache.counters
        switch said {
        case .fresh(let age):
            counters.add(.httpFresh, 1)
            return found(entries.selected, age: age, origin: .httpFresh)
        case .stale(let age):
            counters.add(.httpStale, 1)
            return found(entries.selected, age: age, origin: .httpStale)
        case .staleWhileRevalidate(let age):
            counters.add(.httpStale, 1)
            return found(entries.selected, age: age, origin: .httpStale, revalidates: true)
        case .unavailable: return .failed(.notCached)
        case .bypass, .miss, .validate: return nil
        }
    }

    private func found(
        _ stored: HTTPCacheLookup.Stored?, age: Int64, origin: DownloadResult.Origin, revalidates: Bool = false
    ) -> LookupResult? {
        guard let stored, let head = stored.head(age: age) else { return isOffline ? .failed(.notCached) : nil }
        // A background revalidation has no caller to hand a response to.
        if lookup.wishes.contains(.revalidates) { return .done }
        if lookup.wishes.contains(.ignoresCached) { return .failed(.cachedIsRight) }
        let response = CachedResponse(head, revalidation: revalidates ? lookup.revalidating : nil)
        let found = CacheHit(body: stored.body, response: response, origin: origin)
        found.extended = stored.entry.extended
        return .found(found)
    }
}

// MARK: - To the network

extension HTTPLookupJob {
    private func goOn(
        _ entries: HTTPCacheLookup.Entries, _ said: CacheAnswer?, claimed: DownloadClaim?
    ) -> LookupResult {
        var stored: HTTPCacheLookup.Stored?
        var conditions = HTTPFields()
        if case .validate(let fields, _)? = said {
            stored = entries.selected
            conditions = fields
        }
        if said != nil, said != .bypass { lookup.cache.counters.add(.httpMisses, stored == nil ? 1 : 0) }
        let isCompared = stored == nil && lookup.wishes.contains(.ignoresCached)
        let resumes = stored == nil && lookup.wishes.contains(.resumes) && lookup.request.range == nil
        let part = resumes ? KeptPart(for: lookup, by: disk) : nil
        return .network(
            Revalidation(
                lookup, disk, stored: stored, primary: entries.primary, conditions: conditions, claim: claimed,
                part: part, mayStore: said != nil && said != .bypass,
                plainBody: isCompared ? disk.read(lookup.key)?.body : nil))
    }
}

extension CacheAnswer {
    fileprivate var isFresh: Bool { if case .fresh = self { true } else { false } }
}
