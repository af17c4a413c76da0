import SDDBase
import SDDCaches
import SDDTransport
import Synchronization

/// One load. Owned by the `LoadTable`.
final class Load: @unchecked Sendable {
    // Safety: `submitted` and what follows it is written only by `LoadTable`, under its loader's lock. `Loader` reads
    // `source`, `asksHTTPCache`, `shown` and `isCacheBad` without the lock while it runs an action of the load: until
    // that action's end is reported, no event changes them.
    let listener: Listener
    let plan: LoadPlan
    /// `ImageCacheLookup.memoryVersion` when memory was searched for the image.
    let memoryVersion: Int
    /// `StoreProgress.settled` before the cache was searched, for this load or one whose search it has joined.
    var settled: UInt64
    private let wantedPriority: Atomic<Int32>
    private let cancelFlag = Atomic(false)

    enum Stage {
        case asking, making, consulting, fetching, judging, storing
    }

    var submitted: Int64 = 0
    var stage = Stage.asking
    /// The index of the source being tried.
    var source = 0
    /// The source is blocked, and only the HTTP cache is asked for it.
    var asksHTTPCache = false
    /// The cache entry could not be decoded.
    var isCacheBad = false
    /// The cached result that the application has been told of.
    var shown: DownloadResult?
    /// The times when the cache had answered, and when the image was complete.
    var answered: Int64 = 0
    var made: Int64 = 0
    /// The result to deliver once it is stored.
    var result: DownloadResult?
    /// The reason why `result` could not be stored.
    var storeFailure: StoreFailure?
    var failures: [SourceFailure] = []
    /// Used by `LookupIndex`: the other loads of a lookup that this one has started, how many of all of them wait, and
    /// the first load of another group.
    var companions: [Load] = []
    var waitingCount = 0
    var nextGroup: Load?
    /// Whether it is in the index.
    var isInLookup = false
    /// The wish to read the entry, for the lookup that this load has started.
    var wish: DiskRead?

    init(_ listener: Listener, _ plan: LoadPlan, memoryVersion: Int = 0, settled: UInt64 = 0) {
        self.listener = listener
        self.plan = plan
        self.memoryVersion = memoryVersion
        self.settled = settled
        wantedPriority = Atomic(plan.priority.rawValue)
    }

    var token: UInt64 { listener.token }

    /// Set under the lock; read without it when a request of the load has just been submitted.
    var isCancelled: Bool {
        get { cancelFlag.load(ordering: .acquiring) }
        set { cancelFlag.store(newValue, ordering: .releasing) }
    }

    /// Set under the lock; read without it when a request of the load is submitted.
    var priority: Priority {
        get { Priority(rawValue: wantedPriority.load(ordering: .acquiring)) ?? .normal }
        set { wantedPriority.store(newValue.rawValue, ordering: .releasing) }
    }

    func has(_ option: RequestOptions) -> Bool { plan.options.contains(option) }
}
