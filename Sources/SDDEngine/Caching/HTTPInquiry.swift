package import SDDBase
package import SDDCaches
package import SDDTransport

/// Asks the HTTP cache about a request: what is stored may answer it, or may only have to be asked about. Sees to it that
/// of several processes that want the same, one goes to the network. Immutable; works on a disk thread.
package final class HTTPInquiry: Inquiry {
    let cache: ImageCache
    /// Of the URL's own entry.
    let key: String
    /// Of who asks, behind the key of a URL.
    private let mark: String
    let request: CacheableRequest
    /// Request fields that are sent but not seen here: what depends on them cannot be told apart.
    let hiddenFields: Set<String>
    let wishes: Wishes

    package struct Wishes: OptionSet, Hashable, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }
        /// RFC 9111; else only what broke off is resumed.
        package static let http = Wishes(rawValue: 1)
        /// What the cache has is not to be handed out: O3.
        package static let ignoresCached = Wishes(rawValue: 2)
        package static let resumes = Wishes(rawValue: 4)
        /// Not for a caller, but for what comes next: RFC 5861 §3.
        package static let revalidates = Wishes(rawValue: 8)
    }

    /// nil for a request that no cache has a part in.
    package init?(_ cache: ImageCache, _ transfer: HTTPRequest, _ wishes: Wishes) {
        // A name and password in a URL are not for a disk.
        guard cache.disk != nil, !wishes.isEmpty, transfer.plugin == nil, transfer.sink == nil,
            transfer.url.scheme == .http || transfer.url.scheme == .https, !transfer.url.hasUserinfo
        else { return nil }
        self.cache = cache
        self.wishes = wishes
        mark = Self.callersMark(transfer)
        key = cache.key(of: transfer.url) + mark
        request = CacheableRequest(method: transfer.method, url: transfer.url.text, headers: transfer.headers)
        hiddenFields = transfer.options.values.usesCookies ? ["cookie"] : []
    }

    private init(revalidating other: HTTPInquiry) {
        cache = other.cache
        key = other.key
        mark = other.mark
        request = other.request
        hiddenFields = other.hiddenFields
        wishes = [.http, .revalidates]
    }

    /// What one caller may see is not for another: who says who he is has entries of his own.
    private static func callersMark(_ transfer: HTTPRequest) -> String {
        let values = transfer.options.values
        guard transfer.headers["Authorization"] != nil || values.credential != nil || !values.verifiesCertificate else {
            return ""
        }
        let credential = values.credential
        let parts = [
            transfer.headers["Authorization"], credential?.username, credential?.password, credential?.bearerToken,
            credential?.clientCertificate, values.verifiesCertificate ? nil : "unverified",
        ]
        // Not the secrets themselves.
        var text = parts.map { $0.map { "=" + $0 } ?? "" }.joined(separator: "\n")
        return "\ncaller:" + String(text.withUTF8 { unsafe XXH64.sum(of: UnsafeRawBufferPointer($0)) }, radix: 16)
    }

    package var number: UInt64 { UInt64(truncatingIfNeeded: wishes.rawValue + 1) }

    /// Whether what is sent is the same, is compared elsewhere.
    package func isSame(as other: any Inquiry) -> Bool {
        guard let other = other as? HTTPInquiry else { return false }
        return cache === other.cache && wishes == other.wishes && key == other.key
    }

    package func ask(_ question: Question, answer: @escaping @Sendable (Finding) -> Void) {
        guard cache.isOpen, let disk = cache.disk else {
            return answer(question.isOffline && wishes.contains(.http) ? .failed(.notCached) : .network(nil))
        }
        disk.read { [self] in Look(self, disk, question, answer).look() }
    }

    /// Whatever may be stored for a URL that this caller may see: his own, and everybody's.
    func keys(ofURL url: String) -> Set<String> {
        let key = cache.key(ofURL: url)
        return [key, key + mark]
    }

    /// The same, for nobody, and without handing out what is stale.
    var revalidating: HTTPInquiry { HTTPInquiry(revalidating: self) }
}

// MARK: - What is stored

extension HTTPInquiry {
    /// An entry that answers to the request's URL, and to the fields by which its server chooses.
    struct Stored: Sendable {
        let key: String
        let entry: StoredEntry
        var response: StoredResponse
    }

    /// The URL's own entry, and that which the request selects: RFC 9111 §4.1.
    struct Entries: Sendable {
        var primary: StoredResponse?
        var selected: Stored?
    }

    /// Thread: one that may wait for the disk.
    func entries(_ disk: DiskCache, isOffline: Bool) -> Entries {
        guard let own = stored(key, disk) else { return Entries() }
        var request = request
        request.isOffline = isOffline
        guard dependsOnNothingHidden(own.response) else { return Entries(primary: own.response) }
        if CacheRules.selects(own.response, request) { return Entries(primary: own.response, selected: own) }
        guard let variantKey = CacheRules.variantKey(varyOf: own.response, request),
            let variant = stored(key + "\n" + variantKey, disk), variant.response.isVariant(of: own.response),
            dependsOnNothingHidden(variant.response), CacheRules.selects(variant.response, request)
        else { return Entries(primary: own.response) }
        return Entries(primary: own.response, selected: variant)
    }

    func dependsOnNothingHidden(_ response: StoredResponse) -> Bool {
        hiddenFields.isDisjoint(with: response.selecting.map { $0.name })
    }

    private func stored(_ key: String, _ disk: DiskCache) -> Stored? {
        guard let entry = disk.read(key), !entry.metadata.http.isEmpty,
            let response = entry.metadata.http.withUnsafeBytes({ unsafe StoredResponse(decoding: $0) })
        else { return nil }
        return Stored(key: key, entry: entry, response: response)
    }
}

// MARK: - One look

/// One inquiry on its way: looks, waits for another process where that is at it, and looks again. Thread: sdd-disk.
private final class Look: Sendable {
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

    private init(after other: Look, awaiting lock: UInt64) {
        inquiry = other.inquiry
        disk = other.disk
        question = other.question
        answer = other.answer
        began = other.began
        awaited = lock
        pause = min(other.pause * 2, 50)
    }

    func look() {
        guard inquiry.wishes.contains(.http) else { return goOn(HTTPInquiry.Entries(), nil, claimed: nil) }
        let entries = inquiry.entries(disk, isOffline: question.isOffline)
        guard let finding = finding(entries) else { return claim(entries) }
        if awaited != nil { inquiry.cache.counters.add(.sharedDownloads, 1) }
        answer(finding)
    }
}

// MARK: - What the rules say

extension Look {
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
    private func finding(_ entries: HTTPInquiry.Entries) -> Finding? {
        let answer = answer(by: entries)
        let counters = inquiry.cache.counters
        switch answer {
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

extension Look {
    /// One process goes, the others wait for what it brings.
    private func claim(_ entries: HTTPInquiry.Entries) {
        let answer = answer(by: entries)
        guard let limit = inquiry.cache.shareWait, answer != .bypass, !disk.isStopping else {
            return goOn(entries, answer, claimed: nil)
        }
        switch disk.store.downloads.claim(inquiry.key) {
        case .owned(let claim): claimed(claim, entries)
        case .unavailable: goOn(entries, answer, claimed: nil)
        case .busy(let lock):
            let isOver = inquiry.cache.time.monotonicMicroseconds() - began > limit
            // Whoever held it has let it go without an entry: what comes is not for a cache, and not worth waiting for.
            let isAnother = awaited.map { $0 != 0 && lock != 0 && $0 != lock } ?? false
            if isOver || isAnother { return goOn(entries, answer, claimed: nil) }
            let next = Look(after: self, awaiting: lock == 0 ? awaited ?? 0 : lock)
            disk.read(afterMilliseconds: pause) { next.look() }
        }
    }

    /// The entry may have come between looking and claiming.
    private func claimed(_ claim: DownloadClaim, _ before: HTTPInquiry.Entries) {
        let entries = inquiry.entries(disk, isOffline: question.isOffline)
        if let finding = finding(entries) {
            claim.release()
            inquiry.cache.counters.add(.sharedDownloads, 1)
            return answer(finding)
        }
        goOn(entries, answer(by: entries), claimed: claim)
    }

    private func goOn(_ entries: HTTPInquiry.Entries, _ said: CacheAnswer?, claimed: DownloadClaim?) {
        var stored: HTTPInquiry.Stored?
        var conditions = HTTPFields()
        if case .validate(let fields, _)? = said {
            stored = entries.selected
            conditions = fields
        }
        if said != nil, said != .bypass { inquiry.cache.counters.add(.httpMisses, stored == nil ? 1 : 0) }
        let part = stored == nil && inquiry.wishes.contains(.resumes) ? KeptPart(for: inquiry, by: disk) : nil
        answer(
            .network(
                HTTPExchange(
                    inquiry, disk, stored: stored, primary: entries.primary, conditions: conditions, claim: claimed,
                    part: part, mayStore: said != nil && said != .bypass)))
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
