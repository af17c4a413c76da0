package import SDDBase

/// A request to send. Redirects are followed inside the transport. A value type that holds a single reference, because
/// a request is passed on often and rarely changed.
package struct HTTPRequest: Sendable {
    private struct Parts {
        var url: ImageURL
        var method: String
        var headers: HTTPFields
        var body: Bytes?
        var options: TransferOptions
        var plugin: (any AppTransport)?
        var sink: BodySink?
        var resume: ResumePoint?
        var cookies: [String]?
    }

    private final class Storage: @unchecked Sendable {
        // Safety: changed only by a request that holds the only reference.
        var parts: Parts

        init(_ parts: Parts) { self.parts = parts }
    }

    private var storage: Storage

    private var parts: Parts {
        _read { yield storage.parts }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.parts) }
            yield &storage.parts
        }
    }

    package init(
        url: ImageURL, method: String = "GET", headers: HTTPFields = HTTPFields(), body: Bytes? = nil,
        options: TransferOptions = .standard, plugin: (any AppTransport)? = nil
    ) {
        storage = Storage(
            Parts(url: url, method: method, headers: headers, body: body, options: options, plugin: plugin))
    }

    package var url: ImageURL {
        get { storage.parts.url }
        set { parts.url = newValue }
    }
    package var method: String {
        get { storage.parts.method }
        set { parts.method = newValue }
    }
    package var headers: HTTPFields {
        get { storage.parts.headers }
        set { parts.headers = newValue }
    }
    package var body: Bytes? {
        get { storage.parts.body }
        set { parts.body = newValue }
    }
    package var options: TransferOptions {
        get { storage.parts.options }
        set { parts.options = newValue }
    }
    /// The application's transport that fetches the request in place of this one.
    package var plugin: (any AppTransport)? {
        get { storage.parts.plugin }
        set { parts.plugin = newValue }
    }
    /// The destination of the body; `nil` means memory.
    package var sink: BodySink? {
        get { storage.parts.sink }
        set { parts.sink = newValue }
    }
    /// The beginning of the body, if it is already there. Only the rest is requested then, provided that the body is
    /// unchanged. Ignored unless the request is a plain GET over HTTP without conditions or ranges of its own.
    package var resume: ResumePoint? {
        get { storage.parts.resume }
        set { parts.resume = newValue }
    }
    /// The cookies of the jar that the URL's host may get, as "name=value", at the time the request was made; only for
    /// requests that use cookies. The response then tells whether others were sent (`Response.isOfUnknownCaller`).
    /// `nil` if that need not be known.
    package var cookies: [String]? {
        get { storage.parts.cookies }
        set { parts.cookies = newValue }
    }
}
