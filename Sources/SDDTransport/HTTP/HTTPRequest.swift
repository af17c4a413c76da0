package import SDDBase

/// A request to send. Redirects are followed inside the transport. A value type that holds a single reference, because
/// a request is passed on often and rarely changed.
package struct HTTPRequest: Sendable {
    private struct Parts {
        var url: ImageURL
        var method: String
        var headers: HTTPFields
        var options: TransferOptions
        /// `nil` for most requests, of which many may be waiting.
        var rare: Rare?
    }

    private struct RareParts {
        var body: Bytes?
        var appTransport: (any AppTransport)?
        var sink: BodySink?
        var resume: ResumePoint?
        var cookies: [String]?
        var authorization: Authorization?
        var conditions: Conditions?
    }

    /// Conditional fields (RFC 9110 §13.1) that ask whether a stored response is still good. They are sent to the URL alone
    /// that the response came from: a validator of one host tells another one who is asking.
    package struct Conditions: Sendable {
        let url: String
        let fields: HTTPFields

        /// - Parameter url: Without user and password.
        package init(url: String, fields: HTTPFields) { (self.url, self.fields) = (url, fields) }
    }

    private final class Rare: Sendable {
        let parts: RareParts

        init(_ parts: RareParts) { self.parts = parts }
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

    private var rare: RareParts {
        get { storage.parts.rare?.parts ?? RareParts() }
        set { parts.rare = Rare(newValue) }
    }

    package init(
        url: ImageURL, method: String = "GET", headers: HTTPFields = HTTPFields(), body: Bytes? = nil,
        options: TransferOptions = .standard, appTransport: (any AppTransport)? = nil
    ) {
        let rare = body == nil && appTransport == nil ? nil : Rare(RareParts(body: body, appTransport: appTransport))
        storage = Storage(Parts(url: url, method: method, headers: headers, options: options, rare: rare))
    }

    /// Returns this request for another URL.
    package func with(url: ImageURL) -> HTTPRequest {
        // Changing a copy would count references to the old URL.
        let storage = storage
        return HTTPRequest(
            Parts(
                url: url, method: storage.parts.method, headers: storage.parts.headers, options: storage.parts.options,
                rare: storage.parts.rare))
    }

    /// Returns this request over a transport of the application.
    package func by(_ appTransport: any AppTransport) -> HTTPRequest {
        var request = self
        request.appTransport = appTransport
        return request
    }

    private init(_ parts: Parts) { storage = Storage(parts) }

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
        get { storage.parts.rare?.parts.body }
        set { rare.body = newValue }
    }
    package var options: TransferOptions {
        get { storage.parts.options }
        set { parts.options = newValue }
    }
    /// The application's transport that fetches the request in place of this one.
    package var appTransport: (any AppTransport)? {
        get { storage.parts.rare?.parts.appTransport }
        set { rare.appTransport = newValue }
    }
    /// The destination of the body; `nil` means memory.
    package var sink: BodySink? {
        get { storage.parts.rare?.parts.sink }
        set { rare.sink = newValue }
    }
    /// The beginning of the body, if it is already there. Only the rest is requested then, provided that the body is
    /// unchanged. Ignored unless the request is a plain GET over HTTP without conditions or ranges of its own.
    package var resume: ResumePoint? {
        get { storage.parts.rare?.parts.resume }
        set { rare.resume = newValue }
    }
    /// The cookies of the jar that the URL's host may get, as "name=value", at the time the request was made; only for
    /// requests that use cookies. The response then tells whether others were sent (`Response.isOfUnknownCaller`).
    /// `nil` if that need not be known.
    package var cookies: [String]? {
        get { storage.parts.rare?.parts.cookies }
        set { rare.cookies = newValue }
    }
    /// They are among the header fields while the request has their URL.
    package var conditions: Conditions? {
        get { storage.parts.rare?.parts.conditions }
        set {
            rare.conditions = newValue
            addConditions()
        }
    }
    /// The Authorization field that the transport adds, because the server has accepted the password before. Set anew
    /// for each hop.
    var authorization: Authorization? {
        get { storage.parts.rare?.parts.authorization }
        set { rare.authorization = newValue }
    }
}

// MARK: - Facts

/// Facts that are asked for often, read without a copy of the parts that they are in.
extension HTTPRequest {
    package var scheme: ImageURL.Scheme { storage.parts.url.scheme }
    package var hostKey: UInt64 { storage.parts.url.hostKey }
    package var hasSink: Bool { storage.parts.rare?.parts.sink != nil }
    package var hasAppTransport: Bool { storage.parts.rare?.parts.appTransport != nil }

    /// Hash key of the URL, method, header fields and options: equal for equal ones, and usually different for others.
    /// The hashes of the parts are computed once, when the parts are made.
    package var hashKey: UInt64 { hashKey(forURL: storage.parts.url.hashKey) }

    /// The hash key that the request would have with another URL.
    package func hashKey(forURL url: UInt64) -> UInt64 {
        let parts = storage.parts
        var hashKey = (url ^ parts.headers.hashKey) &* 0x100_0000_01b3
        hashKey = (hashKey ^ parts.options.hashKey) &* 0x100_0000_01b3
        return parts.method == "GET" ? hashKey : ~hashKey
    }

    /// True if the request may share a transfer at all. Only safe methods may (RFC 9110 §9.2.1), and only without a
    /// body or a sink.
    package var isShareable: Bool {
        if let rare = storage.parts.rare?.parts, rare.body != nil || rare.sink != nil { return false }
        return storage.parts.method == "GET" || storage.parts.method == "HEAD"
    }

    /// Whether sending the request twice does no harm: RFC 9110 §9.2.2.
    var isIdempotent: Bool {
        switch method {
        case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
        default: false
        }
    }

    /// Whether the request asks for all of what its URL has: a GET without a range and without conditions (RFC 9110 §13.1
    /// and §14.2).
    package var asksForWhole: Bool {
        method == "GET" && !headers.fields.contains { Self.isOfPart($0.name) }
    }

    /// Whether a header field asks for a part of a body, or only for a changed one.
    private static func isOfPart(_ name: String) -> Bool {
        switch name.utf8.first {
        case UInt8(ascii: "R"), UInt8(ascii: "r"): HTTPFields.isSameName(name, "Range")
        case UInt8(ascii: "I"), UInt8(ascii: "i"):
            name.utf8.count > 3 && HTTPFields.isSameName(String(name.prefix(3)), "If-")
        default: false
        }
    }

    /// Adds the conditions if the request has their URL, and removes them if it has another.
    mutating func addConditions() {
        guard let conditions else { return }
        let isTheirs = url.textWithoutUserinfo == conditions.url
        for field in conditions.fields.fields { headers.set(field.name, to: isTheirs ? field.value : nil) }
    }

    /// Returns the request's own limit on the body, or `standard` if it has none.
    func limitOnBody(else standard: Int64) -> Int64 {
        let own = options.values.maxBodyBytes
        return own > 0 ? own : standard
    }
}
