internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

extension Handle {
    static let clients = HandleRegistry<Client>(.downloader)
}

/// The object behind a downloader handle: the downloader and the defaults of its requests. Callable from any thread.
final class Client: Sendable {
    let downloader: Downloader
    private let defaults: Monitor<RequestDefaults>
    private let config: AppConfiguration

    init(_ downloader: Downloader, defaults: RequestDefaults, config: AppConfiguration) {
        self.downloader = downloader
        self.defaults = Monitor(defaults)
        self.config = config
    }

    /// The defaults of requests that are submitted now.
    var currentDefaults: RequestDefaults {
        let now = defaults.withLock { $0 }
        guard let followed = now.followedChanges, followed != coderChanges else { return now }
        followCoders()
        return defaults.withLock { $0 }
    }

    /// A count that grows with each change to the coders of the downloader or of the process.
    private var coderChanges: UInt64 { downloader.coders.changes &+ AppCoderList.process.changes }

    /// Updates the Accept header field to the registered coders.
    private func followCoders() {
        // Read the count before the lists, so that a change made meanwhile is noticed the next time.
        let changes = coderChanges
        let text = AcceptField.text(
            of: [downloader.coders, .process], installed: downloader.configuration.installedCoders)
        setDefault { $0.follow(changes, accept: text) }
    }

    func submit(_ request: DownloadRequest, _ callbacks: any AppCallbacks) throws(Refusal) -> sdd_token {
        guard let token = downloader.submit(.success(request), callbacks: callbacks) else {
            throw destroyedMeanwhile()
        }
        return token
    }

    func setDefault(_ change: (inout RequestDefaults) -> Void) {
        let before = defaults.withLock { defaults in
            let before = defaults
            change(&defaults)
            return before
        }
        // The old defaults may own data of the application, which must not be freed under the lock.
        withExtendedLifetime(before) {}
    }

    /// The current config, for sdd_downloader_get_config().
    var currentConfig: sdd_downloader_config {
        config.filled(with: downloader.currentConfiguration, currentDefaults)
    }
}

/// Returns the refusal for a downloader that was destroyed after its handle was resolved, before it took the request.
func destroyedMeanwhile() -> Refusal {
    Refusal(SDD_ERROR_CLOSED, "downloader", "another thread has destroyed it meanwhile")
}
