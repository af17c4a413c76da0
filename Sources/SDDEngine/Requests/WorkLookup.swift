package import SDDBase
import SDDTransport

/// A lookup for a request that fetches nothing and has its bytes made on a decode thread, such as an encoding. Never
/// equal to another. Thread-safe.
package final class WorkLookup: CacheLookup {
    package var hashKey: UInt64 { 0 }
    package func isSame(as other: any CacheLookup) -> Bool { self === other }

    package func start(_ context: LookupContext, answer: @escaping @Sendable (LookupResult) -> Void) {
        // The body is empty at first; `BodyWork` makes the actual one.
        answer(.found(CacheHit(body: unsafe Bytes(adopting: nil, count: 0), origin: .network)))
    }

    /// Makes a request whose body is the result of a function.
    /// - Parameter make: called once, on a decode thread, with no lock held; not called if the request ends before.
    package static func request(
        named name: String, making make: @escaping @Sendable () -> Result<Bytes, DownloadError>
    ) -> DownloadRequest {
        var request = DownloadRequest(transfer: HTTPRequest(url: ImageURL(key: name)))
        let lookup = WorkLookup()
        request.lookup = lookup
        request.bodyWork = BodyWork(making: make, identity: [UInt(bitPattern: ObjectIdentifier(lookup))])
        request.wantsPixels = false
        return request
    }
}
