import SDDBase
import SDDCaches
import SDDTransport

extension ResponseHead {
    /// Returns the response as the HTTP cache stores it for a request; `nil` if it must not be stored.
    func stored(for request: CacheableRequest) -> StoredResponse? {
        guard let fields = response.storableFields,
            CacheRules.stores(request, status: response.status, fields: fields, isComplete: true)
        else { return nil }
        return CacheRules.makeStored(
            request, status: response.status, url: response.url, fields: fields,
            requestTime: requestTime / 1_000_000, responseTime: responseTime / 1_000_000,
            family: UInt64.random(in: 1...UInt64.max))
    }
}
