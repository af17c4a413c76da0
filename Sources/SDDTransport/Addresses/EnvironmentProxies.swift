internal import Glibc
internal import SDDBase

/// The proxies from the environment, by libcurl's rules (see CURLOPT_PROXY). They are read once: libcurl would call
/// getenv(3) for each transfer on sdd-net, which is not safe while the application changes its environment.
/// Thread: the one that creates the downloader.
struct EnvironmentProxies: Sendable {
    /// The URL of the proxy; "" means none.
    private let http: String
    private let https: String
    /// Hosts that are reached without a proxy.
    let exceptions: String

    /// - Parameter value: Returns the value of a variable; `nil` if it is not set.
    init(_ value: (String) -> String?) {
        func named(_ names: String...) -> String? {
            for name in names {
                if let value = value(name), !value.isEmpty { return value }
            }
            return nil
        }
        let all = named("all_proxy", "ALL_PROXY")
        // HTTP_PROXY is ignored, because a CGI program gets the client's header field "Proxy" in it.
        http = named("http_proxy") ?? all ?? ""
        https = named("https_proxy", "HTTPS_PROXY") ?? all ?? ""
        exceptions = named("no_proxy", "NO_PROXY") ?? ""
    }

    /// Reads the environment of the process.
    init() { self.init { name in getenv(name).map { String(cString: $0) } } }

    subscript(scheme: ImageURL.Scheme) -> String { scheme == .https ? https : http }
}
