import SDDBase
import SDDTransport

extension DownloadRequest.Parts {
    /// Attaches the contents of a data: URL as the request's answer. Requests with other schemes stay unchanged.
    /// - Parameter limit: the maximum size of the body, in bytes.
    /// - Throws: also if the request has another method than GET, or a sink. Header fields have no effect, as in the
    ///   Fetch Standard: a range or a condition is ignored, as a server may do (RFC 9110 §14.2).
    package func answerDataURL(limit: Int64) throws(DownloadError) {
        guard transfer.url.scheme == .data, transfer.appTransport == nil else { return }
        guard transfer.method == "GET" else {
            throw DownloadError(.invalidOperation, .badMethod, "The method of a request for a data: URL is not GET.")
        }
        guard transfer.sink == nil else {
            throw DownloadError(.invalidOperation, .badSink, "What is in a data: URL goes to no sink.")
        }
        lookup = try DataURLLookup(transfer.url, limit: limit)
    }
}
