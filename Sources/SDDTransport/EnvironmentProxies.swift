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

    init() {
        let all = Self.value("all_proxy", "ALL_PROXY")
        // HTTP_PROXY is what a CGI program's client has sent as its header field "Proxy".
        http = Self.value("http_proxy") ?? all ?? ""
        https = Self.value("https_proxy", "HTTPS_PROXY") ?? all ?? ""
        exceptions = Self.value("no_proxy", "NO_PROXY") ?? ""
    }

    subscript(scheme: ImageURL.Scheme) -> String { scheme == .https ? https : http }

    private static func value(_ names: String...) -> String? {
        for name in names {
            if let value = getenv(name), value.pointee != 0 { return String(cString: value) }
        }
        return nil
    }
}
