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
    private let state: Monitor<State>
    private let config: AppConfiguration

    private struct State {
        var defaults: RequestDefaults
        /// The kinds of requests that were made of these defaults.
        var kinds = PlainKinds()
    }

    init(_ downloader: Downloader, defaults: RequestDefaults, config: AppConfiguration) {
        self.downloader = downloader
        state = Monitor(State(defaults: defaults))
        self.config = config
    }

    /// The defaults of requests that are submitted now.
    var currentDefaults: RequestDefaults {
        let now = state.withLock { $0.defaults }
        if isCurrent(now) { return now }
        followCoders()
        return state.withLock { $0.defaults }
    }

    private func isCurrent(_ defaults: RequestDefaults) -> Bool {
        guard let followed = defaults.followedChanges else { return true }
        return followed == coderChanges
    }

    /// Returns the kind of a request that has only a URL and user data of its own.
    /// - Returns: nil if it has more.
    func plainKind(of request: sdd_download_request) -> PlainKind? {
        guard let key = PlainKinds.Key(request) else { return nil }
        let found = state.withLock { state in isCurrent(state.defaults) ? state.kinds[key] : nil }
        if let found { return found.kind }
        let defaults = currentDefaults
        let made = PlainKinds.Kind(request, defaults, hasEvents: downloader.isAppDriven)
        let replaced = state.withLock { state in
            state.defaults.isSame(as: defaults) ? state.kinds.add(made, for: key) : nil
        }
        // The kind that is forgotten may hold the last reference to objects of the application.
        withExtendedLifetime(replaced) {}
        return made.kind
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
        let before = state.withLock { state in
            let before = state
            change(&state.defaults)
            state.kinds = PlainKinds()
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
