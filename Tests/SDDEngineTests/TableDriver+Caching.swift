import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDCaches
@testable import SDDCoders
@testable import SDDEngine

// Requests with a cache that is asked first, for which the test answers.
extension Driver {
    /// Submits a request for the picture of that number, with a lookup.
    @discardableResult
    func submit(
        _ number: Int, asking lookup: any CacheLookup, pixels: Bool = true,
        change: (inout DownloadRequest) throws -> Void = { _ in }
    ) throws -> UInt64 {
        try submit(number, pixels: pixels) {
            $0.lookup = lookup
            try change(&$0)
        }
    }

    /// Takes the tasks for caches since the last call.
    func cacheTasks() -> [CacheTask] { table.outbox.takeCacheTasks() }

    func answer(_ id: UInt64, _ result: LookupResult) { play { $0.answered(TransferID(id), result, at: now) } }

    func found(_ id: UInt64, size: Int = 4, change: (inout CacheHit) -> Void = { _ in }) {
        var found = CacheHit(body: Sample.body(size), origin: .disk)
        change(&found)
        answer(id, .found(found))
    }

    var isEmpty: Bool {
        table.jobs.isEmpty && table.slots.running == 0 && table.slots.waitingCount == 0 && table.decoding.isEmpty
    }
}

extension [CacheTask] {
    var asked: [UInt64] { compactMap { if case .ask(let id, _, _) = $0 { id.number } else { nil } } }
    var claimed: [UInt64] { compactMap { if case .claim(let id, _) = $0 { id.number } else { nil } } }
    var awaited: [UInt64] { compactMap { if case .awaitOther(let id, _) = $0 { id.number } else { nil } } }
    var kept: [Image] { compactMap { if case .keep(_, let image) = $0 { image } else { nil } } }
    var outcomes: [Revalidation.Outcome] {
        compactMap { if case .apply(_, let outcome) = $0 { outcome } else { nil } }
    }
    var savedCounts: [Int] { compactMap { if case .save(_, let bytes) = $0 { bytes.count } else { nil } } }
    var savingEnds: [Bool] { compactMap { if case .endSaving(_, let isComplete) = $0 { isComplete } else { nil } } }
}

/// A lookup. Lookups of the same name are equal.
final class FakeLookup: CacheLookup {
    let name: UInt64
    let isOptional: Bool
    var hashKey: UInt64 { isOptional ? 0 : name }

    init(_ name: UInt64 = 1, isOptional: Bool = false) {
        self.name = name
        self.isOptional = isOptional
    }

    func isSame(as other: any CacheLookup) -> Bool { (other as? FakeLookup)?.name == name }

    func start(_ context: LookupContext, answer: @escaping @Sendable (LookupResult) -> Void) {
        Issue.record("a table does no lookups itself")
    }
}

/// A cache with a disk in a folder of its own; it ends with the last reference.
final class CacheFixture {
    let folder: TemporaryFolder
    let cache: ImageCache
    let disk: DiskCache

    /// - Parameter shareWait: The microseconds that processes wait for one another; nil means that they do not.
    init(_ serializer: ImageCache.Serializer? = nil, shareWait: Int64? = nil) throws {
        folder = try TemporaryFolder()
        let counters = CacheCounters()
        let store = try DiskStore(options: DiskOptions(directory: folder.path("cache")))
        disk = try DiskCache.make(store, counters: counters, trimInterval: nil)
        cache = ImageCache(
            memory: MemoryCache(), disk: disk, counters: counters, serializer: serializer,
            shareWait: shareWait)
    }

    deinit { cache.close() }

    /// Makes the job that claims the right to download the picture of that number.
    func look(_ number: Int) throws -> HTTPLookupJob {
        let request = try Sample.request("http://host/\(number)")
        let lookup = try #require(HTTPCacheLookup(cache, request.transfer, .http))
        return HTTPLookupJob(lookup, disk, LookupContext(isOffline: false))
    }

    /// Makes a revalidation under way, whose stored response is that many seconds old.
    func revalidation(
        _ number: Int, stored fields: [(String, String)]?, body: [UInt8] = [1, 2, 3],
        wishes: HTTPCacheLookup.Wishes = .http, age: Int64 = 100
    ) throws -> Revalidation {
        let url = "http://host/\(number)"
        let lookup = try #require(HTTPCacheLookup(cache, try Sample.request(url).transfer, wishes))
        guard let fields else {
            return Revalidation(
                lookup, disk, stored: nil, primary: nil, conditions: HTTPFields(), claim: nil, part: nil,
                mayStore: true)
        }
        let time = SystemTime().wallMicroseconds() / 1_000_000 - age
        let response = try #require(
            CacheRules.makeStored(
                lookup.request, status: 200, url: url, fields: Sample.fields(fields), requestTime: time,
                responseTime: time, family: 1))
        let entry = StoredEntry(metadata: EntryMetadata(key: lookup.key, user: [9]), body: try Sample.body(body))
        return Revalidation(
            lookup, disk, stored: HTTPCacheLookup.Stored(key: lookup.key, entry: entry, response: response),
            primary: response, conditions: CacheRules.conditions(of: response), claim: nil, part: nil, mayStore: true)
    }
}

extension Sample {
    static func fields(_ list: [(String, String)]) -> ResponseFields {
        var builder = ResponseFieldsBuilder()
        for (name, value) in list {
            let hasMemory = builder.append(name, value)
            #expect(hasMemory)
        }
        return builder.take()
    }

    /// Makes a response head that has just arrived.
    static func head(
        _ status: Int32, _ fields: [(String, String)] = [], url: String = "http://host/0", expected: Int64 = -1
    ) -> ResponseHead {
        let now = SystemTime().wallMicroseconds()
        return ResponseHead(
            response: Response(status: status, url: url, fields: Self.fields(fields)), expectedBytes: expected,
            requestTime: now, responseTime: now)
    }
}
