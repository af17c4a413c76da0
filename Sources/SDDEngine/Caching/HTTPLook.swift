import SDDBase
import SDDCaches
import SDDTransport

/// One inquiry on its way: looks, waits for another process where that is at it, and looks again. Thread: sdd-disk.
final class HTTPLook: Sendable {
    private let inquiry: HTTPInquiry
    private let disk: DiskCache
    private let question: Question
    private let answer: @Sendable (Finding) -> Void
    private let began: Int64
    /// The lock of another that it waits for, and when it looks again, in milliseconds.
    private let awaited: UInt64?
    private let pause: Int64

    init(
        _ inquiry: HTTPInquiry, _ disk: DiskCache, _ question: Question, _ answer: @escaping @Sendable (Finding) -> Void
    ) {
        self.inquiry = inquiry
        self.disk = disk
        self.question = question
        self.answer = answer
        began = inquiry.cache.time.monotonicMicroseconds()
        awaited = nil
        pause = 2
    }

    private init(after other: HTTPLook, awaiting lock: UInt64) {
        inquiry = other.inquiry
        disk = other.disk
        question = other.question
        answer = other.answer
        began = other.began
        awaited = lock
        pause = min(other.pause * 2, 50)
    }

    func look() {
        if inquiry.wishes.contains(.pictures) { return lookForPicture() }
        guard inquiry.wishes.contains(.http) else { return goOn(HTTPInquiry.Entries(), nil, claimed: nil) }
        let entries = inquiry.entries(disk, isOffline: question.isOffline)
        let said = answer(by: entries)
        guard let finding = finding(said, entries) else { return claim(entries, said) }
        if awaited != nil { inquiry.cache.counters.add(.sharedDownloads, 1) }
        answer(finding)
    }
}

// MARK: - Pictures

extension HTTPLook {
    /// The cache has been asked before, and had nothing: but another process may be at it.
    private func lookForPicture() {
        if awaited != nil, answersWithPicture() { return }
        claim(HTTPInquiry.Entries(), nil)
    }

    /// What another process has brought meanwhile.
    /// - Returns: whether there is something.
    private func answersWithPicture(givingBack claim: DownloadClaim? = nil) -> Bool {
        guard let entry = disk.read(inquiry.key) else { return false }
        inquiry.cache.counters.add(.sharedDownloads, 1)
        var found = Found(body: entry.body, origin: .disk)
        found.extended = entry.extended
        claim?.release()
        answer(.found(found))
        return true
    }
}

// MARK: - What the rules say

extension HTTPLook {
    private func answer(by entries: HTTPInquiry.Entries) -> CacheAnswer {
        var request = inquiry.request
        request.isOffline = question.isOffline
        let answer = CacheRules.answer(to: request, stored: entries.selected?.response, now: inquiry.cache.now)
        guard let stored = entries.selected, !question.isOffline else { return answer }
        switch answer {
        case .fresh, .stale, .staleWhileRevalidate:
            // The redirects that led there are responses of their own (RFC 9111 §4), and have not been kept.
            if stored.response.url != request.url || isWorthAsking(answer) {
                return request.cacheControl.isOnlyIfCached
                    ? .unavailable
                    : .validate(conditions: CacheRules.conditions(of: stored.response), mayServeIfError: false)
            }
            return answer
        default: return answer
        }
    }

    /// What may be served while the server is asked is of no use to who wants to know what the server says.
    private func isWorthAsking(_ answer: CacheAnswer) -> Bool {
        if inquiry.wishes.contains(.revalidates) { return !answer.isFresh }
        guard inquiry.wishes.contains(.ignoresCached), case .staleWhileRevalidate = answer else { return false }
        return true
    }

    /// nil: to the network.
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
        // Nobody waits for what is there already.
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
    /// One process goes, the others wait for what it brings.
    private func claim(_ entries: HTTPInquiry.Entries, _ said: CacheAnswer?) {
        guard let limit = inquiry.cache.shareWait, said != .bypass, !disk.isStopping else {
            return goOn(entries, said, claimed: nil)
        }
        switch disk.store.downloads.claim(inquiry.key) {
        case .owned(let claim): claimed(claim)
        case .unavailable: goOn(entries, said, claimed: nil)
        case .busy(let lock):
            let isOver = inquiry.cache.time.monotonicMicroseconds() - began > limit
            // Whoever held it has let it go without an entry: what comes is not for a cache, and not worth waiting for.
            let isAnother = awaited.map { $0 != 0 && lock != 0 && $0 != lock } ?? false
            if isOver || isAnother { return goOn(entries, said, claimed: nil) }
            let next = HTTPLook(after: self, awaiting: lock == 0 ? awaited ?? 0 : lock)
            disk.read(afterMilliseconds: pause) { next.look() }
        }
    }

    /// The entry may have come between looking and claiming.
    private func claimed(_ claim: DownloadClaim) {
        if inquiry.wishes.contains(.pictures) {
            if !answersWithPicture(givingBack: claim) { goOn(HTTPInquiry.Entries(), nil, claimed: claim) }
            return
        }
        let entries = inquiry.entries(disk, isOffline: question.isOffline)
        let said = answer(by: entries)
        if let finding = finding(said, entries) {
            claim.release()
            inquiry.cache.counters.add(.sharedDownloads, 1)
            return answer(finding)
        }
        goOn(entries, said, claimed: claim)
    }

    private func goOn(_ entries: HTTPInquiry.Entries, _ said: CacheAnswer?, claimed: DownloadClaim?) {
        var stored: HTTPInquiry.Stored?
        var conditions = HTTPFields()
        if case .validate(let fields, _)? = said {
            stored = entries.selected
            conditions = fields
        }
        if said != nil, said != .bypass { inquiry.cache.counters.add(.httpMisses, stored == nil ? 1 : 0) }
        let isCompared = stored == nil && inquiry.wishes.contains(.ignoresCached)
        let part = stored == nil && inquiry.wishes.contains(.resumes) ? KeptPart(for: inquiry, by: disk) : nil
        answer(
            .network(
                HTTPExchange(
                    inquiry, disk, stored: stored, primary: entries.primary, conditions: conditions, claim: claimed,
                    part: part, mayStore: said != nil && said != .bypass,
                    plainBody: isCompared ? disk.read(inquiry.key)?.body : nil)))
    }
}

extension CacheAnswer {
    fileprivate var isFresh: Bool { if case .fresh = self { true } else { false } }
}

extension HTTPInquiry.Stored {
    /// As a caller sees it: RFC 9111 §5.1. nil without memory.
    func head(age: Int64) -> ResponseHead? { response.head(age: age, bodyCount: entry.body.count) }
}

extension StoredResponse {
    func head(age: Int64, bodyCount: Int) -> ResponseHead? {
        guard let fields = CacheRules.servedFields(self, age: age) else { return nil }
        return ResponseHead(
            response: Response(status: status, url: url, fields: fields), expectedBytes: Int64(bodyCount))
    }
}
