internal import CFork
internal import CSDD
internal import Glibc
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

/// The downloaders behind handles, and the shared one.
enum Downloaders {
    static func downloader(_ handle: OpaquePointer?) throws(Refusal) -> Downloader { try client(handle).downloader }

    /// Returns the downloader behind a handle; NULL is the shared downloader, created on first use.
    static func client(_ handle: OpaquePointer?, _ place: Place = "downloader") throws(Refusal) -> Client {
        guard let handle else { return try shared(place).object }
        return try Handle.clients.object(handle, place)
    }

    static func shared(_ place: Place = "downloader") throws(Refusal) -> (handle: OpaquePointer?, object: Client) {
        prepareForForks()
        // libcurl calls the system's loader, so it does that before the registry's lock is taken.
        prepareNetworks()
        return try Handle.clients.shared(place) { () throws(Refusal) in
            let client = try makeClient(sdd_downloader_config())
            endNetworksAtExit()
            return client
        }
    }

    /// Returns the downloader behind a handle. Refuses the shared downloader and invalid handles.
    static func own(_ handle: OpaquePointer?) throws(Refusal) -> Client {
        guard let handle else { throw HandleKind.downloader.notShared("downloader") }
        let client = try Handle.clients.object(handle, "downloader")
        if Handle.clients.isShared(handle) { throw HandleKind.downloader.notShared("downloader") }
        return client
    }
}

/// Initializes libcurl, once in a process.
private func prepareNetworks() { sddfork_once(SDDFORK_FIRST_DOWNLOADER) { CurlTransport.prepareLibrary() } }

/// Creates a downloader over libcurl, with the default header fields.
func makeClient(_ config: sdd_downloader_config) throws(Refusal) -> Client {
    prepareNetworks()
    var read = try readConfiguration(config, cache: Caches.cache)
    read.defaults.headers.set("Accept", to: AcceptField.text(of: [], installed: read.downloader.installedCoders))
    read.defaults.headers.set("User-Agent", to: userAgent)
    do throws(CreationFailure) {
        let downloader = try Downloader.make(
            read.downloader, transport: CurlTransport(configuration: read.downloader.transport))
        read.defaults.cookies = downloader.cookies
        read.defaults.cache?.used(by: downloader)
        read.appData.own()
        let client = Client(downloader, defaults: read.defaults, config: read.given)
        downloader.keepUntilTheEnd(client)
        return client
    } catch {
        switch error {
        case .noResources(let sentence): throw Refusal(SDD_ERROR_NO_RESOURCES, whole: sentence)
        case .unsupported(let sentence): throw Refusal(SDD_ERROR_UNSUPPORTED, whole: sentence)
        case .badConfiguration(let sentence): throw Refusal(SDD_ERROR_INVALID_ARGUMENT, whole: sentence)
        }
    }
}

private let userAgent: String = {
    var system = utsname()
    guard uname(&system) == 0 else { return "libsdd/\(version) curl/\(CurlTransport.curlVersion())" }
    return "libsdd/\(version) (\(text(&system.sysname)); \(text(&system.machine))) curl/\(CurlTransport.curlVersion())"
}()

/// Returns the ASCII text in one of the arrays of uname().
private func text<CharArray>(_ field: inout CharArray) -> String {
    withUnsafeBytes(of: &field) { String(decoding: $0.prefix { $0 != 0 && $0 < 0x7f }, as: UTF8.self) }
}
