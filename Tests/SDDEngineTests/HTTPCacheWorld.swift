import Glibc
import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport
import Synchronization
import TestSupport
import Testing

@testable import SDDEngine

/// The system's monotonic clock, and a wall clock that stands still until it is moved forward: ages in seconds are the
/// same however slow the machine is. Callable from any thread.
final class ShiftedTime: TimeSource {
    private let start = SystemTime().wallMicroseconds()
    private let seconds = Atomic<Int64>(0)

    func pass(seconds: Int64) { self.seconds.add(seconds, ordering: .sequentiallyConsistent) }

    func monotonicMicroseconds() -> Int64 { SystemTime().monotonicMicroseconds() }

    func wallMicroseconds() -> Int64 {
        start + seconds.load(ordering: .sequentiallyConsistent) * 1_000_000
    }
}

/// Everything that a test of the HTTP cache needs, real except for the server's replies: a downloader over libcurl, an
/// image cache in a folder of its own, a server. Each test makes its own and uses it on the test's thread.
final class HTTPCacheWorld {
    let server: ScriptedServer
    let folder: TemporaryFolder
    let time = ShiftedTime()
    /// The start in seconds since 1970, from which the dates of a sequence are counted.
    let start: Int64
    let cache: ImageCache
    let disk: DiskCache
    let downloader: Downloader
    private let ears = Ears()

    init(
        folder: TemporaryFolder? = nil, server: ScriptedServer? = nil, shareWait: Int64? = nil,
        ignoring parameters: KeyFilter? = nil,
        configure: (inout DownloaderConfiguration) -> Void = { _ in }
    ) throws {
        self.server = try server ?? ScriptedServer(fileRoot: Fixtures.directory)
        self.folder = try folder ?? TemporaryFolder()
        let counters = CacheCounters()
        var options = DiskOptions(directory: self.folder.path("cache"))
        options.limits.maxAge = nil
        disk = try DiskCache.make(try DiskStore(options: options), counters: counters, trimInterval: nil)
        let keyMaker = parameters.map { filter -> ImageCache.KeyMaker in { @Sendable url in filter.key(of: url) } }
        cache = ImageCache(
            memory: MemoryCache(), disk: disk, counters: counters, keyMaker: keyMaker, shareWait: shareWait, time: time)
        var configuration = DownloaderConfiguration()
        configuration.transport.proxy = .none
        configure(&configuration)
        downloader = try Downloader.make(
            configuration, transport: CurlTransport(configuration: configuration.transport, time: time))
        downloader.setObserver(ears)
        start = time.wallMicroseconds() / 1_000_000
    }

    deinit { end() }

    private var hasEnded = false

    /// Ends everything, as a process does that exits normally.
    func end() {
        if hasEnded { return }
        hasEnded = true
        downloader.destroy()
        cache.close()
    }

    /// Records the transfers that have left the network.
    private final class Ears: Observer {
        let stops = Recorder<UInt64>()

        func noticed(_ notice: Notice) { if notice.kind == .stop { stops.record(notice.transfer) } }
    }

    var stopCount: Int { ears.stops.all.count }

    /// Waits until that many transfers have left the network, and their responses are stored.
    func waitForStops(_ count: Int) -> Bool { ears.stops.wait(count: count) != nil && flush() }

    func flush() -> Bool { disk.flush(milliseconds: 30_000) }
}

// MARK: - Requests

extension HTTPCacheWorld {
    /// Makes a request for the bytes of a target of the server, through the HTTP cache.
    func request(
        _ target: String, _ fields: [String] = [], method: String = "GET", wishes: HTTPCacheLookup.Wishes = .http,
        options: TransferOptions = .standard, pixels: Bool = false
    ) throws -> DownloadRequest {
        var transfer = HTTPRequest(url: try Sample.url(server.url(target)), method: method, options: options)
        for field in fields {
            let parts = field.split(separator: ":", maxSplits: 1)
            transfer.headers.set(String(parts[0]), to: String(parts[1].drop { $0 == " " }))
        }
        // The jar is empty, so the request is anonymous.
        if options.values.usesCookies { transfer.cookies = [] }
        if method == "POST" { transfer.body = try Sample.body([1]) }
        var request = DownloadRequest(transfer: transfer)
        request.wantsPixels = pixels
        request.acceptance = .all
        request.lookup = HTTPCacheLookup(cache, transfer, wishes)
        return request
    }

    /// Runs a request and returns its result; the test fails if it does not end.
    func run(_ request: DownloadRequest) throws -> DownloadResult {
        let callbacks = RecordingCallbacks()
        _ = downloader.submit(.success(request), callbacks: callbacks)
        return try end(of: callbacks)
    }

    func end(of callbacks: RecordingCallbacks) throws -> DownloadResult {
        try #require(callbacks.waitUntilReleased())
        #expect(callbacks.record.results.count == 1)
        return try #require(callbacks.record.results.first)
    }

    /// Returns the entry of the image cache under a URL.
    func picture(at target: String) -> CacheHit? {
        let lookup = ImageCacheLookup(
            cache, key: server.url(target), form: DecodeOptions(), levels: .disk, wantsImage: false, wantsBytes: true)
        return lookup.finish(lookup.firstStep())
    }
}

extension DownloadResult {
    var text: String? { bytes.map { String(decoding: $0.pointer, as: UTF8.self) } }
    var array: [UInt8]? { bytes.map { Array($0.pointer) } }
}
