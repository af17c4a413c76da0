package import SDDBase
package import SDDCoders
package import SDDTransport

/// Defaults that a downloader's requests use unless they set their own. A value type that holds a single reference,
/// because each request needs them and they rarely change. Its properties are those of `Values`.
@dynamicMemberLookup
package struct RequestDefaults: Sendable {
    package struct Values: Sendable {
        package var headers = HTTPFields()
        /// The count of changes to the registered coders for which Accept was last made; `nil` once the application has
        /// set or removed the field itself.
        package var followedChanges: UInt64? = 0
        package var clocks = TransferClocks()
        /// Whether the connect timeout equals the stall timeout, because the application set none.
        package var connectFollowsStall = true
        /// Milliseconds; 0 means no limit. The same holds for `totalLimit`.
        package var queueLimit: Int64 = 0
        package var totalLimit: Int64 = 0
        package var acceptance = Acceptance.standard
        package var credential: Credential?
        /// User name and password for the proxy.
        package var proxyUserinfo: String?
        /// The cookie jar for requests with the option `handleCookies`.
        package var cookies: CookieJar?
        package var modifiers: (any RequestModifiers)?
        /// The object that holds `form`; requests refer to it in place of a copy of the form.
        fileprivate(set) var sharedForm = SharedForm.standard
        /// The application's transports, the newest first.
        package fileprivate(set) var appTransports: [(scheme: String, appTransport: any AppTransport)] = []
        package let allowsFiles: Bool
        package var refusesDataURLs = false
        package let maxBodyBytes: Int64
        fileprivate var ownCache: ImageCache?
        fileprivate let sharedCache: @Sendable () -> ImageCache?
        fileprivate var useHTTPCache = false
        fileprivate var resume = false
    }

    private final class Storage: Sendable {
        let values: Values
        /// The schemes of `appTransports`, to check URLs by.
        let schemes: [String]
        /// Properties of `modifiers`.
        let changesRequests: Bool
        let bodyWork: BodyWork?
        let options: TransferOptions
        /// The identity that requests without header fields and options of their own present.
        let identity: RequestIdentity
        /// `HTTPRequest.asksForWhole` of such requests.
        let asksForWhole: Bool

        init(_ values: Values) {
            self.values = values
            schemes = values.appTransports.map { $0.scheme }
            changesRequests = values.modifiers?.changesRequests ?? false
            bodyWork = values.modifiers?.bodyWork
            var transfer = TransferOptions.Values()
            transfer.clocks = values.clocks
            transfer.credential = values.credential
            transfer.proxyUserinfo = values.proxyUserinfo
            options = TransferOptions(transfer)
            let plain = HTTPRequest(url: ImageURL(key: ""), headers: values.headers, options: options)
            identity = RequestIdentity(of: plain)
            asksForWhole = plain.asksForWhole
        }
    }

    private var storage: Storage
    private var choice = CacheChoice.own

    /// The cache of the requests: the defaults' own, none, or that of a loader.
    private enum CacheChoice: Sendable { case own, none, ofLoads(ImageCache) }

    private var values: Values {
        get { storage.values }
        set { storage = Storage(newValue) }
    }

    package init(
        allowsFiles: Bool = false, maxBodyBytes: Int64 = 64 << 20,
        sharedCache: @escaping @Sendable () -> ImageCache? = { nil }
    ) {
        storage = Storage(Values(allowsFiles: allowsFiles, maxBodyBytes: maxBodyBytes, sharedCache: sharedCache))
    }

    package subscript<Value>(dynamicMember value: KeyPath<Values, Value>) -> Value {
        @inline(__always) get { storage.values[keyPath: value] }
    }

    package subscript<Value>(dynamicMember value: WritableKeyPath<Values, Value>) -> Value {
        @inline(__always) get { storage.values[keyPath: value] }
        @inline(__always) set { values[keyPath: value] = newValue }
    }

    // The façade reads these for each request, and sees through no key path.
    package var followedChanges: UInt64? { storage.values.followedChanges }
    package var maxBodyBytes: Int64 { storage.values.maxBodyBytes }
    package var form: DecodeOptions {
        get { storage.values.sharedForm.form }
        set { values.sharedForm = SharedForm(newValue) }
    }

    /// Returns these defaults with another HTTP cache, or without one.
    func withCache(_ cache: ImageCache?) -> RequestDefaults {
        var defaults = self
        defaults.choice = cache.map { .ofLoads($0) } ?? .none
        return defaults
    }

    private var hasNoCache: Bool { if case .none = choice { true } else { false } }

    package mutating func setHeader(_ name: String, to value: String?) {
        if HTTPFields.isSameName(name, AcceptField.name) { values.followedChanges = nil }
        values.headers.set(name, to: value)
    }

    package mutating func follow(_ changes: UInt64, accept: String) {
        if storage.values.followedChanges == nil { return }
        values.followedChanges = changes
        if storage.values.headers[AcceptField.name] != accept { values.headers.set(AcceptField.name, to: accept) }
    }

    package mutating func add(_ appTransport: any AppTransport, scheme: String) {
        values.appTransports.insert((scheme, appTransport), at: 0)
    }

    /// Removes the newest transport registered for exactly this scheme.
    /// - Returns: false if there is none.
    package mutating func removeAppTransport(of scheme: String) -> Bool {
        guard let index = storage.values.appTransports.firstIndex(where: { $0.scheme == scheme }) else { return false }
        values.appTransports.remove(at: index)
        return true
    }

    /// Returns the cache of the requests.
    var ownOrSharedCache: ImageCache? { cache ?? storage.values.sharedCache() }

    /// Whether these are the same defaults; their caches may be others.
    package func isSame(as other: RequestDefaults) -> Bool { storage === other.storage }

    /// Checks a URL without keeping it.
    /// - Returns: nil if another text than that given would be kept.
    func outlineIfKept(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageURL.Flaw) -> ImageURL.Outline? {
        unsafe try ImageURL.outlineIfKept(bytes, allowsFiles: self.allowsFiles, others: storage.schemes)
    }

    /// The scheme of transports for URLs of all schemes.
    package static let anyScheme = "*"

    /// Returns the application's transport for a URL; `nil` means the library's own.
    /// - Throws: an error if neither handles the scheme.
    package func appTransport(for url: ImageURL) throws(DownloadError) -> (any AppTransport)? {
        let appTransports = storage.values.appTransports
        if appTransports.isEmpty { return nil }
        var text = url.text
        var appTransport: (any AppTransport)?
        for entry in appTransports where appTransport == nil {
            let takesScheme =
                entry.scheme == Self.anyScheme || text.withUTF8 { unsafe Self.isScheme(entry.scheme, of: $0) }
            if takesScheme, entry.appTransport.takes(url) { appTransport = entry.appTransport }
        }
        if appTransport == nil, url.scheme == .other {
            throw DownloadError(.scheme, of: shownURL(Array(url.text.utf8)))
        }
        return appTransport
    }
}

extension RequestDefaults {
    /// Whether a URL has a scheme, which is in lower case. RFC 3986 §3.1: schemes are case-insensitive.
    private static func isScheme(_ scheme: String, of url: UnsafeBufferPointer<UInt8>) -> Bool {
        var place = 0
        for letter in scheme.utf8 {
            // Setting bit 0x20 turns only letters into lower-case letters.
            guard place < url.count, unsafe url[place] == letter || url[place] | 0x20 == letter else { return false }
            place += 1
        }
        return unsafe place < url.count && url[place] == UInt8(ascii: ":")
    }
}

// MARK: - What follows from the values

extension RequestDefaults {
    var identity: RequestIdentity { storage.identity }
    var asksForWhole: Bool { storage.asksForWhole }
    /// Whether `modifiers` has a function that changes requests.
    package var changesRequests: Bool { storage.changesRequests }
    /// The work on bodies of `modifiers`.
    package var bodyWork: BodyWork? { storage.bodyWork }
    /// Transfer options for requests that set none of their own.
    package var options: TransferOptions { storage.options }
    /// The cache of the requests; `nil` means the shared cache, created on first use if it can be.
    package var cache: ImageCache? {
        get {
            switch choice {
            case .own: storage.values.ownCache
            case .none: nil
            case .ofLoads(let cache): cache
            }
        }
        set { values.ownCache = newValue }
    }
    /// Whether all requests use the HTTP cache, and (`resumes`) whether all resume interrupted downloads.
    package var usesHTTPCache: Bool {
        get { storage.values.useHTTPCache && !hasNoCache }
        set { values.useHTTPCache = newValue }
    }
    package var resumes: Bool {
        get { storage.values.resume && !hasNoCache }
        set { values.resume = newValue }
    }
}

// MARK: - URLs

extension RequestDefaults {
    /// Checks a URL.
    /// - Parameters:
    ///   - bytes: up to `longestURL(from:)` bytes, and one more if the URL is too long; nil for a missing URL.
    ///   - limit: the size of the largest body, for data: URLs.
    package func url(checking bytes: UnsafeBufferPointer<UInt8>?, limit: Int64) throws(DownloadError) -> ImageURL {
        guard let bytes = unsafe bytes else { throw DownloadError(.missing, of: "") }
        if unsafe ImageURL.isData(bytes) { return unsafe try dataURL(bytes, limit: limit) }
        do throws(ImageURL.Flaw) {
            return unsafe try ImageURL(
                checkingAnyHost: bytes, allowsFiles: self.allowsFiles, others: storage.schemes)
        } catch {
            throw DownloadError(error, of: shownURL(unsafe Array(bytes)))
        }
    }

    private func dataURL(_ bytes: UnsafeBufferPointer<UInt8>, limit: Int64) throws(DownloadError) -> ImageURL {
        do throws(ImageURL.Flaw) {
            return unsafe try ImageURL(data: bytes, limit: Self.longestDataURL(limit))
        } catch .tooLong {
            throw DownloadError(
                .invalidURL, .urlTooLong, "The data: URL is longer than one of the largest body in base64 would be.")
        } catch {
            throw DownloadError(error, of: "that begins with data:")
        }
    }

    /// Returns the length in bytes of the longest accepted URL that begins with `start`, the first
    /// `ImageURL.dataStartLength` bytes.
    package static func longestURL(from start: UnsafeBufferPointer<UInt8>, limit: Int64) -> Int {
        unsafe ImageURL.isData(start) ? longestDataURL(limit) : ImageURL.maxLength
    }

    /// Returns the length in bytes of the longest accepted data: URL. Base64 uses four digits for three bytes; 1,024
    /// bytes may precede them.
    /// - Parameter limit: the size of the largest body.
    private static func longestDataURL(_ limit: Int64) -> Int {
        let (digits, overflow) = Int(clamping: limit).multipliedReportingOverflow(by: 4)
        return (overflow ? Int.max : digits) / 3 + 1024
    }
}

extension DownloadError {
    /// - Parameter url: the URL as the application gave it, without possible secrets.
    fileprivate init(_ flaw: ImageURL.Flaw, of url: String) {
        switch flaw {
        case .empty: self.init(.invalidURL, .urlEmpty, "The URL is empty.")
        case .tooLong:
            self.init(.invalidURL, .urlTooLong, "The URL is longer than \(ImageURL.maxLength) bytes.")
        case .notUTF8:
            self.init(
                .invalidURL, .urlNotUTF8, "The URL \(url) is not UTF-8; percent-encode its other bytes.")
        case .malformed:
            self.init(
                .invalidURL, .urlMalformed,
                "The URL \(url) is malformed: it must be absolute, as http://host/path, without spaces, "
                    + "with user name and password in ASCII.")
        case .hostNotASCII:
            self.init(
                .invalidURL, .urlMalformed,
                "The host of the URL \(url) is no internationalized domain name, or libcurl cannot convert such names: "
                    + "write it in ASCII (xn--).")
        case .missing: self.init(.invalidURL, .urlNull, "The URL is NULL.")
        case .scheme:
            self.init(
                .invalidURL, .urlScheme,
                "The scheme of the URL \(url) is not http, https or data (file only where it is allowed, data unless it "
                    + "is turned off), and no other transport takes it.")
        }
    }
}
