import SDDBase
import SDDCaches
import SDDTransport

/// The lookup of a request that asks for the HTTP cache, and whose response that cannot have: the body goes to a sink,
/// the transport is the application's, or there is no disk. It finds nothing, and bars the network where only the cache
/// may answer. Immutable.
final class BarredLookup: CacheLookup {
    private let isOnlyIfCached: Bool

    init(_ request: HTTPRequest) { isOnlyIfCached = CacheControl(request.headers).isOnlyIfCached }

    var hashKey: UInt64 { 1 }

    func isSame(as other: any CacheLookup) -> Bool { (other as? BarredLookup)?.isOnlyIfCached == isOnlyIfCached }

    func start(_ context: LookupContext, answer: @escaping @Sendable (LookupResult) -> Void) {
        answer(context.isOffline || isOnlyIfCached ? .failed(.notCached) : .network(nil))
    }
}
