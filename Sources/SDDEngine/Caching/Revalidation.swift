internal import Glibc
import SDDBase
import SDDCaches
import SDDTransport

/// A request that an HTTP cache has sent to the network: the stored response, the conditions sent, and the decision
/// what to store. Decides without touching the disk; `apply` carries the decision out. Immutable and thread-safe.
package final class Revalidation: Sendable {
    let lookup: HTTPCacheLookup
    let disk: DiskCache
    private let stored: HTTPCacheLookup.Stored?
    /// The response stored for the URL itself, perhaps for other request fields.
    private let primary: StoredResponse?
    /// Conditional header fields made from the stored response (RFC 9111 §4.3.1).
    let conditions: HTTPFields
    /// The claim to download the URL, among all processes; released with the last reference.
    private let claim: DownloadClaim?
    /// The kept part of an interrupted body, to resume from.
    let part: KeptPart?
    private let mayStore: Bool
    /// The body of a stored entry without validators, to compare the response body with.
    private let plainBody: Bytes?

    init(
        _ lookup: HTTPCacheLookup, _ disk: DiskCache, stored: HTTPCacheLookup.Stored?, primary: StoredResponse?,
        conditions: HTTPFields, claim: DownloadClaim?, part: KeptPart?, mayStore: Bool, plainBody: Bytes? = nil
    ) {
        self.lookup = lookup
        self.disk = disk
        self.stored = stored
        self.primary = primary
        self.conditions = conditions
        self.claim = claim
        self.part = part
        self.mayStore = mayStore
        self.plainBody = plainBody
    }

    /// A copy for one more attempt, without conditions and without a part to resume.
    var unconditional: Revalidation {
        Revalidation(
            lookup, disk, stored: nil, primary: primary, conditions: HTTPFields(), claim: claim, part: nil,
            mayStore: mayStore)
    }

    /// The conditions to send; `nil` if there are none.
    var question: HTTPRequest.Conditions? {
        guard let stored, !conditions.fields.isEmpty else { return nil }
        let url = lookup.isOwn(stored.response.url) ? lookup.request.url : stored.response.url
        return HTTPRequest.Conditions(url: url, fields: conditions)
    }

    var storedBody: Bytes? { stored?.body }
    var extended: Bytes? { stored?.entry.extended }
    var ignoresCached: Bool { lookup.wishes.contains(.ignoresCached) }
}

// MARK: - Judging a response

extension Revalidation {
    enum Verdict {
        /// The response is used as it is.
        case asItIs
        /// The stored response is still valid, and is served with this header (RFC 9111 §4.3.3).
        case stillGood(StoredResponse, ResponseHead)
        /// The stored response is served in place of an error response (RFC 5861 §4).
        case stale(ResponseHead)
        /// The 304 does not match the stored response: send the request again without conditions.
        case again
    }

    func verdict(on head: ResponseHead) -> Verdict {
        guard let stored else { return .asItIs }
        let (response, now) = (head.response, head.responseTime / 1_000_000)
        if response.status == 304 {
            // Behind a redirect that has changed, the same validator may belong to another image.
            guard lookup.isSame(response.url, as: stored.response.url),
                let fields = response.storableFields,
                let fresh = CacheRules.freshened(
                    stored.response, by: fields, for: lookup.request,
                    requestTime: head.requestTime / 1_000_000, responseTime: now),
                let head = stored.head(age: Freshness(of: fresh, now: now).age, updated: fresh)
            else { return .again }
            return .stillGood(fresh, head)
        }
        guard !ignoresCached,
            CacheRules.mayServeStale(stored.response, lookup.request, now: now, failure: .status(response.status)),
            let head = stored.head(age: Freshness(of: stored.response, now: now).age)
        else { return .asItIs }
        lookup.cache.counters.add(.httpStale, 1)
        return .stale(head)
    }

    /// Returns the header of the stored response to serve after a network failure; `nil` if it may not be served.
    func headInstead() -> ResponseHead? {
        let now = lookup.cache.now
        guard let stored, !ignoresCached,
            CacheRules.mayServeStale(stored.response, lookup.request, now: now, failure: .network)
        else { return nil }
        lookup.cache.counters.add(.httpStale, 1)
        return stored.head(age: Freshness(of: stored.response, now: now).age)
    }
}

// MARK: - Storing the response

extension Revalidation {
    indirect enum Outcome: Sendable {
        case store(StoredResponse, Bytes)
        /// The body is that of these parts.
        case keepParts(StoredParts, Bytes)
        case freshened(StoredResponse)
        /// Invalidates the request's URL and these others (RFC 9111 §4.4), and then stores a response where it answers
        /// later requests as well.
        case invalidate([String], stored: StoredResponse? = nil, Bytes? = nil)
        /// The stored response is removed: the server has another one, which is not stored.
        case withdrawn
        case nothing

        /// Whether an entry for requests without a range is written.
        var isWritten: Bool {
            switch self {
            case .store, .freshened: true
            case .invalidate(_, let response, _): response != nil
            case .keepParts, .withdrawn, .nothing: false
            }
        }

        /// The outcome of a body that must not be stored as a complete one.
        var withoutBody: Outcome {
            switch self {
            case .store: .nothing
            case .invalidate(let others, _, _): .invalidate(others)
            case .keepParts, .freshened, .withdrawn, .nothing: self
            }
        }
    }

    /// Decides how a complete response changes the cache.
    /// - Parameter body: the complete body.
    func outcome(of head: ResponseHead, body: Bytes) -> Outcome {
        let response = head.response
        if CacheRules.invalidates(method: lookup.request.method, status: response.status) {
            return invalidation(by: head, body)
        }
        // The caller to store it for is not known.
        if response.isOfUnknownCaller { return .nothing }
        // The load stores the response that it is given, at its own levels.
        guard mayStore, lookup.wishes.contains(.http), !lookup.wishes.contains(.refreshesLoad) else { return .nothing }
        if response.status == 206 { return parts(head, body).map { .keepParts($0, body) } ?? .nothing }
        if let stored = head.stored(for: lookup.request) { return .store(stored, body) }
        return isWithdrawn(by: response) ? .withdrawn : .nothing
    }

    /// Whether the response, asked for because of a stored one, says that there is no such picture any more. A load shows
    /// what it has stored whatever the server says.
    func isWithdrawn(by response: Response) -> Bool {
        stored != nil && lookup.wishes.contains(.http) && !lookup.wishes.contains(.refreshesLoad)
            && !response.isOfUnknownCaller && CacheRules.withdraws(status: response.status)
    }

    private func invalidation(by head: ResponseHead, _ body: Bytes) -> Outcome {
        let response = head.response
        // Behind a redirect only the host that has answered speaks of its URLs.
        let url = response.url
        let resolve = { (reference: String) -> String? in
            URLReference.resolve(reference, against: url).flatMap { URLReference.sameOrigin($0, url) ? $0 : nil }
        }
        let others = CacheRules.alsoInvalidated(by: response.fields, resolve: resolve)
        let all = url == lookup.request.url ? others : others + [url]
        guard lookup.wishes.contains(.http), !response.isOfUnknownCaller, url == lookup.request.url,
            let get = CacheRules.answeredGET(
                lookup.request, status: response.status, fields: response.fields, resolve: resolve),
            let made = head.stored(for: get)
        else { return .invalidate(all) }
        return .invalidate(all, stored: made, body)
    }

    /// Whether the body is identical to the stored one (U4).
    func isSame(_ body: Bytes) -> Bool {
        guard let old = storedBody ?? plainBody, old.count == body.count else { return false }
        guard let base = unsafe old.pointer.baseAddress, let other = unsafe body.pointer.baseAddress else {
            return old.count == 0
        }
        return unsafe memcmp(base, other, old.count) == 0
    }

    /// Carries out a decision. Called with no lock held.
    func apply(_ outcome: Outcome) {
        // Many responses may wait to be written, and each would keep a descriptor until then.
        if disk.isBehind { claim?.closeWhileStoring() }
        switch outcome {
        case .store(let response, let body): store(response, body)
        case .keepParts(let parts, let body): keep(parts, body)
        case .freshened(let response): freshen(response)
        case .invalidate(let others, let response, let body):
            for url in [lookup.request.url] + others {
                for key in lookup.keys(ofURL: url) { disk.remove(key.wrappedValue) }
            }
            if let response, let body { write(entry(of: response, body), body, older: .perhaps) }
        case .withdrawn: if let stored { disk.remove(stored.key) }
        case .nothing: break
        }
        // A response that is written releases the claim afterwards, so that other processes find the entry.
        guard let claim, !outcome.isWritten else { return }
        // Loads queue their own writes before this, so the claim is released after them.
        if !lookup.wishes.isDisjoint(with: [.pictures, .refreshesLoad]) {
            disk.change { claim.release() }
        } else {
            disk.read { claim.release() }
        }
    }

    private func store(_ response: StoredResponse, _ body: Bytes) {
        if part?.isOfRanges == true { disk.remove(lookup.partsKey) }
        write(entry(of: response, body), body, older: stored == nil ? .perhaps : .outdated)
    }

    /// Returns the metadata of a complete response, under the key that it belongs to.
    func entry(of response: StoredResponse, _ body: Bytes) -> EntryMetadata {
        var response = response
        var key = lookup.key
        // Keep it beside the entry for other request fields if the server still selects by the same fields; otherwise
        // replace that entry.
        if let primary, !CacheRules.selects(primary, lookup.request),
            let variant = CacheRules.variantKey(varyOf: response, lookup.request),
            variant == CacheRules.variantKey(varyOf: primary, lookup.request)
        {
            key += "\n" + variant
            response.family = primary.family
        }
        let user = stored?.key.hasSameBytes(as: key) == true ? stored?.entry.metadata.user ?? [] : []
        return EntryMetadata(
            key: key, http: response.encoded(), user: user, format: CacheItem.formatNumber(of: body))
    }

    private func freshen(_ response: StoredResponse) {
        lookup.cache.counters.add(.httpRevalidated, 1)
        guard let stored else { return }
        // The entry of a load stays as it is.
        if lookup.wishes.contains(.refreshesLoad) {
            claim?.release()
            return
        }
        // The 304 may forbid storing it.
        guard CacheRules.mayBeKept(response) else { return disk.remove(stored.key) }
        var metadata = stored.entry.metadata
        metadata.http = stored.record(of: response)
        write(metadata, stored.entry.body, older: .asGood)
    }

    /// Writes an entry, and releases the claim once it is written.
    private func write(_ metadata: EntryMetadata, _ body: Bytes, older: DiskQueue.Older) {
        guard lookup.cache.isOpen else { return }
        disk.store(metadata, body, older: older) { [claim] _ in claim?.release() }
    }
}
