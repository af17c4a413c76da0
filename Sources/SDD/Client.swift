internal import CSDD
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

/// What a handle of a downloader stands for: the downloader, and what requests begin with. Any thread.
final class Client: Sendable {
    let downloader: Downloader
    private let defaults: Monitor<RequestDefaults>
    private let config: GivenConfig

    init(_ downloader: Downloader, defaults: RequestDefaults, config: GivenConfig) {
        self.downloader = downloader
        self.defaults = Monitor(defaults)
        self.config = config
    }

    /// What requests submitted now begin with.
    var currentDefaults: RequestDefaults { defaults.withLock { $0 } }

    func setDefault(_ change: (inout RequestDefaults) -> Void) {
        // What is replaced may be the host's, and is let go without the lock.
        let before = currentDefaults
        withExtendedLifetime(before) { defaults.withLock { change(&$0) } }
    }

    /// The config as it is now.
    var currentConfig: sdd_downloader_config {
        config.filled(with: downloader.currentConfiguration, currentDefaults)
    }
}

/// What requests begin with, unless they say otherwise. A value.
struct RequestDefaults: Sendable {
    var headers = HTTPFields()
    private(set) var clocks = TransferClocks()
    /// The limit on connecting is that on silence.
    var connectFollowsStall = true
    /// Milliseconds; 0: none.
    var queueLimit: Int64 = 0
    var totalLimit: Int64 = 0
    var acceptance = Acceptance.standard
    var credential: Credential? { didSet { updateOptions() } }
    var modifiers: HostModifiers?
    /// The host's own transports, the last one first.
    private(set) var plugins: [(scheme: String, plugin: any PluginTransport)] = []
    let allowsFiles: Bool
    /// For requests without anything of their own.
    private(set) var options = TransferOptions.standard

    init(allowsFiles: Bool) { self.allowsFiles = allowsFiles }

    mutating func setClocks(_ change: (inout TransferClocks) -> Void) {
        change(&clocks)
        updateOptions()
    }

    private mutating func updateOptions() {
        var values = TransferOptions.Values()
        values.clocks = clocks
        values.credential = credential
        options = TransferOptions(values)
    }

    mutating func add(_ plugin: any PluginTransport, scheme: String) { plugins.insert((scheme, plugin), at: 0) }

    func plugin(for url: ImageURL) -> (any PluginTransport)? {
        if plugins.isEmpty { return nil }
        let scheme = String(url.text.prefix { $0 != ":" }).lowercased()
        return plugins.first { $0.scheme == scheme }?.plugin
    }

    func url(_ string: UnsafePointer<CChar>?) throws(DownloadError) -> ImageURL {
        guard let bytes = bytes(of: string, limit: ImageURL.maxLength) else {
            throw DownloadError(ImageURL.Flaw.missing)
        }
        do throws(ImageURL.Flaw) {
            return try ImageURL(
                checking: bytes, allowsFiles: allowsFiles, others: plugins.isEmpty ? [] : plugins.map { $0.scheme })
        } catch {
            throw DownloadError(error)
        }
    }
}
