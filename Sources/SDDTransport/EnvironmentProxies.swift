internal import Glibc
internal import SDDBase

/// The proxies that the environment names, by libcurl's rules (the page of CURLOPT_PROXY). libcurl would look for each
/// transfer, on sdd-net, while the host may be changing its environment, which getenv(3) does not bear.
/// Thread: the one that creates the downloader.
struct EnvironmentProxies: Sendable {
    /// "": none.
    private let http: String
    private let https: String
    /// Hosts that are reached without.
    let exceptions: String

    /// - Parameter value: of a variable; nil for one that is not set.
    init(_ value: (String) -> String?) {
        func named(_ names: String...) -> String? {
            for name in names {
                if let value = value(name), !value.isEmpty { return value }
            }
            return nil
        }
        let all = named("all_proxy", "ALL_PROXY")
        // HTTP_PROXY is what a CGI program's client has sent as its header field "Proxy".
        http = named("http_proxy") ?? all ?? ""
        https = named("https_proxy", "HTTPS_PROXY") ?? all ?? ""
        exceptions = named("no_proxy", "NO_PROXY") ?? ""
    }

    /// Those of the process.
    init() { self.init { name in getenv(name).map { String(cString: $0) } } }

    subscript(scheme: ImageURL.Scheme) -> String { scheme == .https ? https : http }
}
