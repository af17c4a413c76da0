internal import Glibc
import SDDBase
import SDDCaches
import SDDTransport

/// A request that an HTTP cache has sent to the network: what is stored already, what is asked for, and what becomes of
/// the response. Decides without a disk; `settle` does what was decided. Immutable; any thread.
package final class HTTPExchange: Sendable {
    let inquiry: HTTPInquiry
    let disk: DiskCache
    private let stored: HTTPInquiry.Stored?
    /// What is stored for the URL itself, perhaps for other fields.
    private let primary: StoredResponse?
    /// Asked for with what is stored: RFC 9111 §4.3.1.
    let conditions: HTTPFields
    /// The right to download it, among all processes; given back with the last reference.
    private let claim: DownloadClaim?
    /// Of a body that had broken off.
    let part: KeptPart?
    private let mayStore: Bool
    /// Of an entry that has nothing the server could be asked about.
    private let plainBody: Bytes?

    init(
        _ inquiry: HTTPInquiry, _ disk: DiskCache, stored: HTTPInquiry.Stored?, primary: StoredResponse?,
        conditions: HTTPFields, claim: DownloadClaim?, part: KeptPart?, mayStore: Bool, plainBody: Bytes? = nil
    ) {
        self.inquiry = inquiry
        self.disk = disk
        self.stored = stored
        self.primary = primary
        self.conditions = conditions
        self.claim = claim
        self.part = part
        self.mayStore = mayStore
        self.plainBody = plainBody
    }

    /// The same for one more attempt, with nothing but the request itself.
    var unconditional: HTTPExchange {
        HTTPExchange(
            inquiry, disk, stored: nil, primary: primary, conditions: HTTPFields(), claim: claim, part: nil,
            mayStore: mayStore)
    }

    var storedBody: Bytes? { stored?.entry.body }
    var extended: Bytes? { stored?.entry.extended }
    var ignoresCached: Bool { inquiry.wishes.contains(.ignoresCached) }
}

// MARK: - What a response means

extension HTTPExchange {
    enum Verdict {
        /// It is what it is.
        case asItIs
        /// What is stored still holds, and is served as this: RFC 9111 §4.3.3.
        case stillGood(StoredResponse, ResponseHead)
        /// What is stored is better than this error: RFC 5861 §4.
        case stale(ResponseHead)
        /// A 304 that speaks of something else: the whole must be asked for.
        case again
    }

    func verdict(on head: ResponseHead) -> Verdict {
        guard let stored else { return .asItIs }
        let (response, now) = (head.response, head.responseTime / 1_000_000)
        if response.status == 304 {
            // Behind a redirect that has changed the same validator may be another picture's.
            guard response.url == stored.response.url,
                let fresh = CacheRules.freshened(
                    stored.response, by: response.fields, for: inquiry.request,
                    requestTime: head.requestTime / 1_000_000, responseTime: now),
                let head = fresh.head(age: Freshness(of: fresh, now: now).age, bodyCount: stored.entry.body.count)
            else { return .again }
            return .stillGood(fresh, head)
        }
        guard !ignoresCached,
            CacheRules.mayServeStale(stored.response, inquiry.request, now: now, failure: .status(response.status)),
            let head = stored.head(age: Freshness(of: stored.response, now: now).age)
        else { return .asItIs }
        inquiry.cache.counters.add(.httpStale, 1)
        return .stale(head)
    }

    /// The network has failed: what may be served in place of an error.
    func headInstead() -> ResponseHead? {
        let now = inquiry.cache.now
        guard let stored, !ignoresCached,
            CacheRules.mayServeStale(stored.response, inquiry.request, now: now, failure: .network)
        else { return nil }
        inquiry.cache.counters.add(.httpStale, 1)
        return stored.head(age: Freshness(of: stored.response, now: now).age)
    }
}

// MARK: - What becomes of it

extension HTTPExchange {
    enum Outcome: Sendable {
        case store(StoredResponse, Bytes)
        case freshened(StoredResponse)
        /// RFC 9111 §4.4: this and other URLs.
        case invalidate([String])
        case nothing

        var isWritten: Bool {
            switch self {
            case .store, .freshened: true
            case .invalidate, .nothing: false
            }
        }
    }

    /// - Parameter body: all of it.
    func outcome(of head: ResponseHead, body: Bytes) -> Outcome {
        let response = head.response
        if CacheRules.invalidates(method: inquiry.request.method, status: response.status) {
            let url = inquiry.request.url
            return .invalidate(
                CacheRules.alsoInvalidated(by: response.fields) { reference in
                    URLReference.resolve(reference, against: url).flatMap {
                        URLReference.sameOrigin($0, url) ? $0 : nil
                    }
                })
        }
        // It is not known under whom it would have to be stored.
        if response.isOfUnknownCaller { return .nothing }
        guard mayStore, inquiry.wishes.contains(.http),
            CacheRules.stores(
                inquiry.request, status: response.status, fields: response.fields, isComplete: true),
            let made = CacheRules.makeStored(
                inquiry.request, status: response.status, url: response.url, fields: response.fields,
                requestTime: head.requestTime / 1_000_000, responseTime: head.responseTime / 1_000_000,
                family: UInt64.random(in: 1...UInt64.max))
        else { return .nothing }
        return .store(made, body)
    }

    /// Whether it is the very same as what is stored: U4.
    func isSame(_ body: Bytes) -> Bool {
        guard let old = storedBody ?? plainBody, old.count == body.count else { return false }
        guard let base = unsafe old.pointer.baseAddress, let other = unsafe body.pointer.baseAddress else {
            return old.count == 0
        }
        return unsafe memcmp(base, other, old.count) == 0
    }

    /// Does what was decided. Called with no lock held.
    func settle(_ outcome: Outcome) {
        // Many may wait to be written, and each would keep a descriptor until then.
        if disk.isBehind { claim?.closeWhileStoring() }
        switch outcome {
        case .store(let response, let body): store(response, body)
        case .freshened(let response): freshen(response)
        case .invalidate(let others):
            for url in [inquiry.request.url] + others {
                for key in inquiry.keys(ofURL: url) { disk.remove(key) }
            }
        case .nothing: break
        }
        // Where nothing is to be written first, by which others would have the URL.
        guard let claim, !outcome.isWritten else { return }
        // Loads store by themselves, and have asked for it before.
        if inquiry.wishes.contains(.pictures) {
            disk.change { claim.release() }
        } else {
            disk.read { claim.release() }
        }
    }

    private func store(_ response: StoredResponse, _ body: Bytes) {
        var response = response
        var key = inquiry.key
        // Beside what is stored for other fields, if the server still chooses by the same; in its place otherwise.
        if let primary, !CacheRules.selects(primary, inquiry.request),
            let variant = CacheRules.variantKey(varyOf: response, inquiry.request),
            variant == CacheRules.variantKey(varyOf: primary, inquiry.request)
        {
            key += "\n" + variant
            response.family = primary.family
        }
        write(response, body, key: key, user: stored?.key == key ? stored?.entry.metadata.user ?? [] : [])
    }

    private func freshen(_ response: StoredResponse) {
        inquiry.cache.counters.add(.httpRevalidated, 1)
        guard let stored else { return }
        // A 304 may have forbidden to keep it.
        guard CacheRules.mayBeKept(response) else { return disk.remove(stored.key) }
        write(response, stored.entry.body, key: stored.key, user: stored.entry.metadata.user)
    }

    /// Once it is written, others may have the URL.
    private func write(_ response: StoredResponse, _ body: Bytes, key: String, user: [UInt8]) {
        guard inquiry.cache.isOpen else { return }
        let metadata = EntryMetadata(
            key: key, http: response.encoded(), user: user, format: CacheItem.formatNumber(of: body))
        disk.store(metadata, body) { [claim] _ in claim?.release() }
    }
}
