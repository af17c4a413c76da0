internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

/// What a handle of a downloader stands for: the downloader, and what requests begin with. Any thread.
final class Client: Sendable {
    let downloader: Downloader
    /// Replaced as a whole when something changes, so that a request has one reference to take.
    private let snapshot: Monitor<Snapshot>
    private let config: GivenConfig

    private final class Snapshot: Sendable {
        let defaults: RequestDefaults

        init(_ defaults: RequestDefaults) { self.defaults = defaults }
    }

    init(_ downloader: Downloader, defaults: RequestDefaults, config: GivenConfig) {
        self.downloader = downloader
        snapshot = Monitor(Snapshot(defaults))
        self.config = config
    }

    /// What requests submitted now begin with.
    var currentDefaults: RequestDefaults { current.defaults }

    func withDefaults<Result>(_ body: (RequestDefaults) -> Result) -> Result { body(current.defaults) }

    private var current: Snapshot {
        let now = snapshot.withLock { $0 }
        guard let followed = now.defaults.followedChanges, followed != coderChanges else { return now }
        followCoders()
        return snapshot.withLock { $0 }
    }

    /// Grows with each change of either list.
    private var coderChanges: UInt64 { downloader.coders.changes &+ HostCoderList.process.changes }

    /// Accept says what can be decoded.
    private func followCoders() {
        // Before the lists: what changes meanwhile is followed the next time.
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
        // It may hold what is the host's, and is let go without the lock.
        withExtendedLifetime(before) {}
    }

    /// The config as it is now.
    var currentConfig: sdd_downloader_config {
        config.filled(with: downloader.currentConfiguration, currentDefaults)
    }
}

/// What requests begin with, unless they say otherwise. A value.
struct RequestDefaults: Sendable {
    var headers = HTTPFields()
    /// Up to which change of the coders Accept has followed them; nil: the application has set it, or removed it.
    private(set) var followedChanges: UInt64? = 0
    private(set) var clocks = TransferClocks()
    /// The limit on connecting is that on silence.
    var connectFollowsStall = true
    /// Milliseconds; 0: none.
    var queueLimit: Int64 = 0
    var totalLimit: Int64 = 0
    var acceptance = Acceptance.standard
    var credential: Credential? { didSet { updateOptions() } }
    /// User and password of the proxy.
    var proxyUserinfo: String? { didSet { updateOptions() } }
    /// Those that requests with SDD_OPTION_HANDLE_COOKIES send.
    var cookies: CookieJar?
    var modifiers: HostModifiers?
    var form = PixelForm()
    /// The host's own transports, the last one first.
    private(set) var plugins: [(scheme: String, plugin: any PluginTransport)] = []
    let allowsFiles: Bool
    var refusesDataURLs = false
    var maxBodyBytes: Int64
    /// nil: the shared one, made when it is needed.
    var cache: ImageCache?
    /// All requests use the HTTP cache; all go on with what broke off.
    var usesHTTPCache = false
    var resumes = false
    /// For requests without anything of their own.
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

    mutating func add(_ plugin: any PluginTransport, scheme: String) { plugins.insert((scheme, plugin), at: 0) }

    /// The last one of that very scheme.
    /// - Returns: false when there is none.
    mutating func removePlugin(of scheme: String) -> Bool {
        guard let index = plugins.firstIndex(where: { $0.scheme == scheme }) else { return false }
        plugins.remove(at: index)
        return true
    }

    /// nil: the library's own.
    /// - Throws: where it has none of that scheme.
    func plugin(for url: ImageURL) throws(DownloadError) -> (any PluginTransport)? {
        if plugins.isEmpty { return nil }
        let scheme = url.text.utf8.prefix { $0 != UInt8(ascii: ":") }
        // RFC 3986 §3.1: without regard to case. The registered ones are in lower case, and have letters only where
        // the bit makes them so.
        let plugin = plugins.first { entry in
            let isOfScheme =
                entry.scheme.utf8.count == scheme.count
                && zip(entry.scheme.utf8, scheme).allSatisfy { $0 == $1 | 0x20 || $0 == $1 }
            return (isOfScheme || entry.scheme == HostTransport.anyScheme) && entry.plugin.takes(url)
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

    /// Bytes of a URL that are worth looking at: of one that is too long, as much as shows that.
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

    /// Base64 has four digits for three bytes; and something stands before it.
    private var longestDataURL: Int {
        let (digits, overflow) = Int(clamping: maxBodyBytes).multipliedReportingOverflow(by: 4)
        return (overflow ? Int.max : digits) / 3 + 1024
    }
}
