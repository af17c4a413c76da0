internal import CCurl
internal import Glibc
internal import SDDBase

extension HTTPRequest {
    /// Whether sending the request twice does no harm: RFC 9110 §9.2.2.
    var isIdempotent: Bool {
        switch method {
        case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
        default: false
        }
    }

    /// Returns the request's own limit on the body, or `standard` if it has none.
    func limitOnBody(else standard: Int64) -> Int64 {
        let own = options.values.maxBodyBytes
        return own > 0 ? own : standard
    }
}

extension ResponseReader {
    /// Creates a reader for the response of one hop.
    convenience init(_ easy: EasyHandle, _ request: HTTPRequest, in surroundings: CurlTransfer.Surroundings) {
        let options = surroundings.options
        let asksForUpgrade = options.configuration.httpVersion == .http2 && request.scheme == .http
        self.init(
            easy, limit: request.limitOnBody(else: options.configuration.maxBodyBytes),
            terms: Terms(request, asksForUpgrade: asksForUpgrade), time: surroundings.time)
    }
}

extension AddressPolicy {
    /// - Returns: `nil` if the address may be connected to.
    func refusal(of address: UnsafeMutablePointer<curl_sockaddr>, for url: String) -> AddressRefusal? {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else {
            return AddressRefusal(address: "", rule: .publicOnly(use: nil))
        }
        // Safety: libcurl's record ends with the address, which has the size of its family and may exceed `sockaddr`.
        let place = UnsafeRawPointer(address) + offset
        return refusal(of: place.assumingMemoryBound(to: sockaddr.self), for: url)
    }
}
