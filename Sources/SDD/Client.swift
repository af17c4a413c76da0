internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

/// The object behind a downloader handle: the downloader and the defaults of its requests. Callable from any thread.
final class Client: Sendable {
    let downloader: Downloader
    /// The current defaults. A change replaces the whole object, so that a request needs only one reference.
    private let snapshot: Monitor<Snapshot>
    private let config: AppConfiguration

    private final class Snapshot: Sendable {
        let defaults: RequestDefaults

        init(_ defaults: RequestDefaults) { self.defaults = defaults }
    }

    init(_ downloader: Downloader, defaults: RequestDefaults, config: AppConfiguration) {
        self.downloader = downloader
        snapshot = Monitor(Snapshot(defaults))
        self.config = config
    }

    /// The defaults of requests that are submitted now.
    var currentDefaults: RequestDefaults { current.defaults }

    func withDefaults<Result>(_ body: (RequestDefaults) -> Result) -> Result { body(current.defaults) }

    private var current: Snapshot {
        let now = snapshot.withLock { $0 }
        guard let followed = now.defaults.followedChanges, followed != coderChanges else { return now }
        followCoders()
        return snapshot.withLock { $0 }
    }

    /// A count that grows with each change to the coders of the downloader or of the process.
    private var coderChanges: UInt64 { downloader.coders.changes &+ AppCoderList.process.changes }

    /// Updates the Accept header field to the registered coders.
    private func followCoders() {
        // Read the count before the lists, so that a change made meanwhile is noticed the next time.
        let changes = coderChanges
        let text = AcceptField.text(of: [downloader.coders, .process])
        setDefault { $0.follow(changes, accept: text) }
    }

    func setDefault(_ change: (inout RequestDefaults) -> Void) {
        let before = snapshot.withLock { snapshot in
            var defaults = snapshot.defaults
            change(&defaults)
            defer { snapshot = Snapshot(defaults) }
            return snapshot
        }
        // The old defaults may own data of the application, which must not be freed under the lock.
        withExtendedLifetime(before) {}
    }

    /// The current config, for sdd_downloader_get_config().
    var currentConfig: sdd_downloader_config {
        config.filled(with: downloader.currentConfiguration, currentDefaults)
    }
}

/// Defaults that a downloader's requests use unless they set their own. A value type.
struct RequestDefaults: Sendable {
    var headers = HTTPFields()
    /// The value of `Client.coderChanges` that Accept was last made for; `nil` once the application has set or removed
    /// the field itself.
    private(set) var followedChanges: UInt64? = 0
    private(set) var clocks = TransferClocks()
    /// Whether the connect timeout equals the stall timeout, because the application set none.
    var connectFollowsStall = true
    /// Milliseconds; 0 means no limit. The same holds for `totalLimit`.
    var queueLimit: Int64 = 0
    var totalLimit: Int64 = 0
    var acceptance = Acceptance.standard
    var credential: Credential? { didSet { updateOptions() } }
    /// User name and password for the proxy.
    var proxyUserinfo: String? { didSet { updateOptions() } }
    /// The cookie jar for requests with SDD_OPTION_HANDLE_COOKIES.
    var cookies: CookieJar?
    var modifiers: AppModifiers?
    var form = DecodeOptions()
    /// The application's transports, the newest first.
    private(set) var plugins: [(scheme: String, plugin: any AppTransport)] = []
    let allowsFiles: Bool
    var refusesDataURLs = false
    var maxBodyBytes: Int64
    /// The cache of the requests; `nil` means the shared cache, created on first use.
    var cache: ImageCache?
    /// Whether all requests use the HTTP cache, and (`resumes`) whether all resume interrupted downloads.
    var usesHTTPCache = false
    var resumes = false
    /// Transfer options for requests that set none of their own.
    private(set) var options = TransferOptions.standard

    init(allowsFiles: Bool, maxBodyBytes: Int64) {
        self.allowsFiles = allowsFiles
        self.maxBodyBytes = maxBodyBytes
    }

    mutating func setHeader(_ name: String, to value: String?) {
        if HTTPFields.isSameName(name, AcceptField.name) { followedChanges = nil }
        headers.set(name, to: value)
    }

    mutating func follow(_ changes: UInt64, accept: String) {
        if followedChanges == nil { return }
        followedChanges = changes
        if headers[AcceptField.name] != accept { headers.set(AcceptField.name, to: accept) }
    }

    mutating func setClocks(_ change: (inout TransferClocks) -> Void) {
        change(&clocks)
        updateOptions()
    }

    private mutating func updateOptions() {
        var values = TransferOptions.Values()
        values.clocks = clocks
        values.credential = credential
        values.proxyUserinfo = proxyUserinfo
        options = TransferOptions(values)
    }

    mutating func add(_ plugin: any AppTransport, scheme: String) { plugins.insert((scheme, plugin), at: 0) }

    /// Removes the newest transport registered for exactly this scheme.
    /// - Returns: false if there is none.
    mutating func removeAppTransport(of scheme: String) -> Bool {
        guard let index = plugins.firstIndex(where: { $0.scheme == scheme }) else { return false }
        plugins.remove(at: index)
        return true
    }

    /// Returns the application's transport for a URL; `nil` means the library's own.
    /// - Throws: an error if neither handles the scheme.
    func plugin(for url: ImageURL) throws(DownloadError) -> (any AppTransport)? {
        if plugins.isEmpty { return nil }
        let scheme = url.text.utf8.prefix { $0 != UInt8(ascii: ":") }
        // RFC 3986 §3.1: schemes are case-insensitive. Registered schemes are in lower case, and setting bit 0x20
        // turns only letters into lower-case letters.
        let plugin = plugins.first { entry in
            let isOfScheme =
                entry.scheme.utf8.count == scheme.count
                && zip(entry.scheme.utf8, scheme).allSatisfy { $0 == $1 | 0x20 || $0 == $1 }
            return (isOfScheme || entry.scheme == AppTransportBridge.anyScheme) && entry.plugin.takes(url)
        }?.plugin
        if plugin == nil, url.scheme == .other { throw DownloadError(.scheme, of: shownKey(url.text)) }
        return plugin
    }

    func url(_ string: UnsafePointer<CChar>?) throws(DownloadError) -> ImageURL {
        if let start = bytes(of: string, limit: ImageURL.dataStartLength), ImageURL.isData(start) {
            return try dataURL(string)
        }
        guard let bytes = bytes(of: string, limit: ImageURL.maxLength) else {
            throw DownloadError(.missing, of: "")
        }
        do throws(ImageURL.Flaw) {
            return try ImageURL(
                checking: bytes, allowsFiles: allowsFiles, others: plugins.isEmpty ? [] : plugins.map { $0.scheme })
        } catch {
            throw DownloadError(error, of: shownURL(string))
        }
    }

    /// Returns the bytes of a URL; of one that is too long, one byte more than is allowed.
    func urlBytes(_ string: UnsafePointer<CChar>?) -> UnsafeBufferPointer<UInt8>? {
        let isData = bytes(of: string, limit: ImageURL.dataStartLength).map { ImageURL.isData($0) } ?? false
        return bytes(of: string, limit: isData ? longestDataURL : ImageURL.maxLength)
    }

    private func dataURL(_ string: UnsafePointer<CChar>?) throws(DownloadError) -> ImageURL {
        guard let bytes = bytes(of: string, limit: longestDataURL) else { throw DownloadError(.missing, of: "") }
        do throws(ImageURL.Flaw) {
            return try ImageURL(data: bytes, limit: longestDataURL)
        } catch .tooLong {
            throw DownloadError(
                .invalidURL, .urlTooLong, "The data: URL is longer than one of max_body_bytes in base64 would be.")
        } catch {
            throw DownloadError(error, of: "that begins with data:")
        }
    }

    /// The longest accepted data: URL, in bytes. Base64 uses four digits for three bytes; 1,024 bytes may precede them.
    private var longestDataURL: Int {
        let (digits, overflow) = Int(clamping: maxBodyBytes).multipliedReportingOverflow(by: 4)
        return (overflow ? Int.max : digits) / 3 + 1024
    }
}
