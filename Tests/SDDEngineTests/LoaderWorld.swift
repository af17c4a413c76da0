import Glibc
import SDDBase
import SDDCaches
import SDDTransport
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// A loader over a downloader whose network the test plays, and a cache on a real disk.
final class LoaderWorld {
    let transport = FakeTransport()
    let fixture: CacheFixture
    let downloader: Downloader
    let hooks = FakeHooks()
    let loader: Loader

    init(consults: Bool = false) throws {
        fixture = try CacheFixture()
        downloader = try transport.makeDownloader()
        hooks.hasShouldDownload = consults
        loader = Loader(downloader, failPolicy: .backOff, hooks: hooks)
    }

    deinit { destroy() }

    private var isDestroyed = false

    /// Destroys the downloader once: see `Downloader.destroy`.
    func destroy() {
        if isDestroyed { return }
        isDestroyed = true
        downloader.destroy()
    }

    /// Makes a plan for http://host/`path`, as the library makes it for applications.
    func plan(_ path: String, _ form: DecodeOptions = DecodeOptions(), _ options: RequestOptions = []) throws
        -> LoadPlan
    {
        let cache = fixture.cache
        var request = try Sample.request("http://host/\(path)")
        request.form = form
        request.wantsProgress = true
        let key = cache.key(of: request.transfer.url)
        let wanted = CacheKeys.key(of: key, as: form)
        var plan = LoadPlan(sources: [LoadPlan.Source(url: path, request: .success(request))])
        plan.form = form
        plan.options = options
        plan.lookup = ImageCacheLookup(
            cache, key: key, form: form, levels: .all, originals: ImageCacheLookup.Originals(cache, .disk),
            wantsImage: true, wantsBytes: false, keepsInMemory: true)
        plan.store = LoadPlan.Store(
            cache: cache, key: wanted, levels: .all, isMade: wanted != key,
            original: OriginalKeeper(cache, key: key))
        plan.refreshed = LoadPlan.Refreshed(cache: cache, key: key)
        return plan
    }

    @discardableResult
    func submit(
        _ path: String, _ form: DecodeOptions = DecodeOptions(), _ options: RequestOptions = [],
        onCompleted: @escaping @Sendable (DownloadResult) -> Void = { _ in }
    ) throws -> RecordingCallbacks {
        let callbacks = RecordingCallbacks(onCompleted: onCompleted)
        _ = try #require(loader.submit(plan(path, form, options), callbacks: callbacks))
        return callbacks
    }

    /// Runs a load from submission to end, over a network that has `file`.
    func load(
        _ path: String, _ file: String, _ form: DecodeOptions = DecodeOptions(), _ options: RequestOptions = []
    ) throws -> DownloadResult {
        let callbacks = try submit(path, form, options)
        let body = try Fixtures.array(file)
        _ = waits {
            transport.answerAll(with: body)
            return !callbacks.record.results.isEmpty
        }
        return try #require(Self.end(of: callbacks))
    }

    /// Waits for what another thread brings about: a lookup reads the disk on a thread of its own.
    func waits(until condition: () -> Bool) -> Bool {
        let limit = SystemTime().monotonicMicroseconds() + 30_000_000
        while SystemTime().monotonicMicroseconds() < limit {
            if condition() { return true }
            sched_yield()
        }
        return false
    }

    /// Waits for the next transfer, and returns it.
    func nextTransfer() -> TransferID? {
        var next: TransferID?
        _ = waits {
            next = transport.started().first
            return next != nil
        }
        return next
    }

    /// Waits for the next transfer, and answers it.
    func answerNext(with body: [UInt8], status: Int32 = 200) -> Bool {
        guard let id = nextTransfer() else { return false }
        transport.answer(id, with: body, status: status)
        return true
    }

    /// Returns the result; nil unless the load has ended exactly once.
    static func end(of callbacks: RecordingCallbacks) -> DownloadResult? {
        guard callbacks.waitUntilReleased(), callbacks.record.results.count == 1 else { return nil }
        return callbacks.record.results.first
    }

    func onDisk(_ path: String) throws -> [UInt8]? {
        let key = fixture.cache.key(of: try Sample.url("http://host/\(path)"))
        guard fixture.disk.flush(milliseconds: -1) else { return nil }
        return fixture.disk.read(key).map { Array($0.body.pointer) }
    }

    var written: Int64 { fixture.disk.flush(milliseconds: -1) ? fixture.cache.counters[.entriesWritten] : -1 }
}

/// The hooks of an application that may have something to say. Set before loads are submitted.
final class FakeHooks: LoadHooks, @unchecked Sendable {
    var hasShouldDownload = false
    var hasShouldBlock = false
    var onConsult: @Sendable () -> Bool = { true }

    func shouldDownload(_ url: String) -> Bool { onConsult() }
    func shouldBlock(_ url: String, _ result: DownloadResult) -> Bool? { nil }
}
