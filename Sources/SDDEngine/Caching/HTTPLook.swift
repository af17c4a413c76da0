import SDDBase
import SDDCaches
import SDDTransport

/// One HTTP cache lookup in progress: looks at the stored responses; once the request's turn comes, asks for the claim
/// to download among all processes; and if another process has the claim, looks for the entry that it stores.
/// Immutable; works on the sdd-disk threads.
package final class HTTPLook: Sendable {
    typealias Answer = @Sendable (Finding) -> Void

    private let inquiry: HTTPInquiry
    private let disk: DiskCache
    private let isOffline: Bool
    /// The lock of another process that this lookup waits for.
    private let awaited: UInt64?
    /// When another process was first found downloading, in microseconds.
    private let busySince: Int64
    /// Milliseconds until the next check.
    private let pause: Int64

    init(_ inquiry: HTTPInquiry, _ disk: DiskCache, _ question: Question) {
        self.inquiry = inquiry
        self.disk = disk
        isOffline = question.isOffline
        awaited = nil
        busySince = 0
        pause = 2
    }

    private init(after other: HTTPLook, awaiting lock: UInt64) {
        inquiry = other.inquiry
        disk = other.disk
        isOffline = other.isOffline
        awaited = lock == 0 ? other.awaited ?? 0 : lock
        busySince = other.awaited == nil ? other.inquiry.cache.time.monotonicMicroseconds() : other.busySince
        pause = other.awaited == nil ? 2 : min(other.pause * 2, 50)
    }

    /// Looks for a stored response before the request is queued.
    func look(answer: @escaping Answer) {
        // The lookup for an image in the cache came before this one, and found nothing.
        guard isHTTP else { return answer(.turn(self)) }
        disk.read { [self] in
            let entries = inquiry.entries(disk, isOffline: isOffline)
            let said = self.answer(by: entries)
            if let finding = finding(said, entries) { return answer(finding) }
            // Without a claim to ask for, there is no reason to look again later.
            answer(isShared && said != .bypass ? .turn(self) : goOn(entries, said, claimed: nil))
        }
    }

    /// Asks for the claim to download, once the request's turn has come.
    func claim(answer: @escaping Answer) { disk.read { [self] in answer(claimed()) } }

    /// Checks again, after a pause, while another process downloads.
    func lookLater(answer: @escaping Answer) {
        disk.read(afterMilliseconds: pause) { [self] in
            if let finding = lookAgain().2 { return answer(shared(finding)) }
            let lock = disk.store.downloads.owner(of: inquiry.key)
            // If no other process downloads any more, or it takes too long, the request waits for its turn again.
            guard let lock, !isOver, !isAnother(lock), !disk.isStopping else { return answer(.turn(self)) }
            HTTPLook(after: self, awaiting: lock).lookLater(answer: answer)
        }
    }
}

// MARK: - The claim to download

extension HTTPLook {
    /// Takes the claim: one process downloads, the others wait for its entry.
    private func claimed() -> Finding {
        guard isShared, !disk.isStopping else { return unclaimed() }
        switch disk.store.downloads.claim(inquiry.key) {
        case .owned(let claim): return owned(claim)
        case .unavailable: return unclaimed()
        case .busy(let lock):
            return isOver || isAnother(lock) ? unclaimed() : .busy(HTTPLook(after: self, awaiting: lock))
        }
    }

    /// Looks again, since the entry may have arrived before the claim was taken.
    private func owned(_ claim: DownloadClaim) -> Finding {
        let (entries, said, finding) = lookAgain()
        guard let finding else { return goOn(entries, said, claimed: claim) }
        claim.release()
        return shared(finding)
    }

    private func unclaimed() -> Finding {
        guard isHTTP else { return goOn(HTTPInquiry.Entries(), nil, claimed: nil) }
        let (entries, said, finding) = lookAgain()
        return finding ?? goOn(entries, said, claimed: nil)
    }

    private func lookAgain() -> (HTTPInquiry.Entries, CacheAnswer?, Finding?) {
        if isHTTP {
            let entries = inquiry.entries(disk, isOffline: isOffline)
            let said = answer(by: entries)
            return (entries, said, finding(said, entries))
        }
        guard let entry = disk.read(inquiry.key),
            let selection = inquiry.cache.selection(of: entry, inquiry.request.headers)
        else { return (HTTPInquiry.Entries(), nil, nil) }
        var found = Found(body: entry.body, origin: .disk)
        found.extended = entry.extended
        found.selection = selection.bytes
        return (HTTPInquiry.Entries(), nil, .found(found))
    }

    /// Whether HTTP's rules decide; otherwise this is an image lookup, or only looks for a part to resume.
    private var isHTTP: Bool { inquiry.wishes.contains(.http) && !inquiry.wishes.contains(.pictures) }

    /// Whether processes wait for one another.
    private var isShared: Bool {
        inquiry.cache.shareWait != nil && (isHTTP || inquiry.wishes.contains(.pictures))
    }

    private var isOver: Bool {
        guard awaited != nil, let limit = inquiry.cache.shareWait else { return false }
        return inquiry.cache.time.monotonicMicroseconds() - busySince > limit
    }

    /// True if the lock has changed hands without an entry being stored: the response is not cacheable, so waiting is
    /// no use.
    private func isAnother(_ lock: UInt64) -> Bool {
        awaited.map { $0 != 0 && lock != 0 && $0 != lock } ?? false
    }

    private func shared(_ finding: Finding) -> Finding {
        inquiry.cache.counters.add(.sharedDownloads, 1)
        return finding
    }
}

// MARK: - Applying the caching rules

extension HTTPLook {
    private func answer(by entries: HTTPInquiry.Entries) -> CacheAnswer {
        var request = inquiry.request
        request.isOffline = isOffline
        let answer = CacheRules.answer(to: request, stored: entries.selected?.response, now: inquiry.cache.now)
        guard let stored = entries.selected, !isOffline else { return answer }
        switch answer {
        case .fresh, .stale, .staleWhileRevalidate:
            // The redirects that led there are responses of their own (RFC 9111 §4), and were not stored.
            if stored.response.url != request.url || isWorthAsking(answer) {
                return request.cacheControl.isOnlyIfCached
                    ? .unavailable
                    : .validate(conditions: CacheRules.conditions(of: stored.response), mayServeIfError: false)
            }
            return answer
        default: return answer
        }
    }

    /// Whether to ask the server although a stale response could be served meanwhile: the caller wants the server's
    /// answer.
    private func isWorthAsking(_ answer: CacheAnswer) -> Bool {
        if inquiry.wishes.contains(.revalidates) { return !answer.isFresh }
        guard inquiry.wishes.contains(.ignoresCached), case .staleWhileRevalidate = answer else { return false }
        return true
    }

    /// Returns the answer from the cache; `nil` means the request goes to the network.
    private func finding(_ said: CacheAnswer, _ entries: HTTPInquiry.Entries) -> Finding? {
        let counters = inquiry.cache.counters
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
        _ stored: HTTPInquiry.Stored?, age: Int64, origin: DownloadResult.Origin, revalidates: Bool = false
    ) -> Finding? {
        guard let stored, let head = stored.head(age: age) else { return nil }
        // A background revalidation has no caller to hand a response to.
        if inquiry.wishes.contains(.revalidates) { return .done }
        if inquiry.wishes.contains(.ignoresCached) { return .failed(.cachedIsRight) }
        var found = Found(body: stored.entry.body, head: head, origin: origin)
        found.extended = stored.entry.extended
        if revalidates { found.revalidation = inquiry.revalidating }
        return .found(found)
    }
}

// MARK: - To the network

extension HTTPLook {
    private func goOn(
        _ entries: HTTPInquiry.Entries, _ said: CacheAnswer?, claimed: DownloadClaim?
    ) -> Finding {
        var stored: HTTPInquiry.Stored?
        var conditions = HTTPFields()
        if case .validate(let fields, _)? = said {
            stored = entries.selected
            conditions = fields
        }
        if said != nil, said != .bypass { inquiry.cache.counters.add(.httpMisses, stored == nil ? 1 : 0) }
        let isCompared = stored == nil && inquiry.wishes.contains(.ignoresCached)
        let part = stored == nil && inquiry.wishes.contains(.resumes) ? KeptPart(for: inquiry, by: disk) : nil
        return .network(
            HTTPExchange(
                inquiry, disk, stored: stored, primary: entries.primary, conditions: conditions, claim: claimed,
                part: part, mayStore: said != nil && said != .bypass,
                plainBody: isCompared ? disk.read(inquiry.key)?.body : nil))
    }
}

extension CacheAnswer {
    fileprivate var isFresh: Bool { if case .fresh = self { true } else { false } }
}

extension HTTPInquiry.Stored {
    /// Makes the header as a caller sees it (RFC 9111 §5.1); `nil` if there is no memory.
    func head(age: Int64) -> ResponseHead? { response.head(age: age, bodyCount: entry.body.count) }
}

extension StoredResponse {
    func head(age: Int64, bodyCount: Int) -> ResponseHead? {
        guard let fields = CacheRules.servedFields(self, age: age) else { return nil }
        return ResponseHead(
            response: Response(status: status, url: url, fields: fields), expectedBytes: Int64(bodyCount))
    }
}
