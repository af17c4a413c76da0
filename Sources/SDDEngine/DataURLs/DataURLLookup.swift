package import SDDBase
import SDDTransport

/// Answers a request for a data: URL with the URL's own contents, immediately: the request never enters the queue, and
/// touches neither network nor cache. Immutable; callable from any thread.
package final class DataURLLookup: CacheLookup {
    private let body: Bytes
    private let head: ResponseHead

    /// - Parameter limit: the maximum size of the body, in bytes.
    package init(_ url: ImageURL, limit: Int64) throws(DownloadError) {
        let data = try Self.read(url, limit: limit)
        body = data.body
        // A data: URL has no status to judge.
        let response = Response(status: 0, url: url.text, fields: Self.fields(data.mediaType))
        head = ResponseHead(response: response, expectedBytes: Int64(data.body.count))
    }

    private static func read(_ url: ImageURL, limit: Int64) throws(DownloadError) -> DataURL {
        do throws(DataURL.Flaw) {
            return try DataURL(url, limit: limit)
        } catch {
            switch error {
            case .malformed:
                throw DownloadError(
                    .invalidURL, .urlMalformed,
                    "The data: URL is malformed: it has no comma, or what should be base64 is not.")
            case .tooLarge: throw DownloadError(TransportError.bodyTooLarge(limit: limit))
            case .noMemory: throw DownloadError(.noResources, .none, "There was no memory for what is in a data: URL.")
            }
        }
    }

    private static func fields(_ mediaType: String) -> ResponseFields {
        var (name, value) = ("Content-Type", mediaType)
        var builder = ResponseFieldsBuilder()
        let isAdded = name.withUTF8 { name in
            value.withUTF8 {
                unsafe builder.append(name: UnsafeRawBufferPointer(name), value: UnsafeRawBufferPointer($0))
            }
        }
        return isAdded ? builder.take() : ResponseFields()
    }

    /// A constant suffices, because the URL is part of the request's hash and is compared separately.
    package var hashKey: UInt64 { 1 }

    package func isSame(as other: any CacheLookup) -> Bool { other is DataURLLookup }

    package func start(_ context: LookupContext, answer: @escaping @Sendable (LookupResult) -> Void) {
        answer(.found(CacheHit(body: body, response: CachedResponse(head), origin: .network)))
    }
}
