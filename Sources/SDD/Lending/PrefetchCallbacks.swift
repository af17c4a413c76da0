internal import CSDD
internal import Glibc
internal import SDDBase
internal import SDDEngine

/// The C callbacks of one prefetch list. Thread: the one on which the downloader delivers, one call at a time.
final class PrefetchCallbacks: AppCallbacks, @unchecked Sendable {
    // Safety: constants; called on one thread at a time.
    private let urls: [Result<ImageURL, DownloadError>]
    /// By index, the URLs as given that differ from `urls`, or are invalid and readable.
    private let asGiven: [Int: String]
    private let each: sdd_prefetch_each_fn?
    private let progress: sdd_prefetch_progress_fn?
    private let completion: sdd_prefetch_completed_fn?
    private let free: sdd_user_data_free_fn?
    private let userData: UnsafeMutableRawPointer?

    init(_ given: sdd_prefetch_list, urls: [Result<ImageURL, DownloadError>]) {
        self.urls = urls
        asGiven = Self.asGiven(given, urls)
        each = given.each
        progress = given.progress
        completion = given.completed
        free = given.user_data_free
        userData = given.user_data
    }

    func completed(_ result: DownloadResult, token: UInt64) {}
    func released() { free?(userData) }

    func prefetched(_ index: Int, _ result: DownloadResult, token: UInt64) {
        guard let each else { return }
        LentStep(result, of: text(index), token: token).withResult { each(token, index, $0, userData) }
    }

    func prefetchProgressed(_ counts: PrefetchCounts, token: UInt64) {
        progress?(token, counts.finished, counts.skipped, counts.total, userData)
    }

    func prefetchEnded(_ report: PrefetchReport, token: UInt64) {
        guard let completion else { return }
        LentReport(report, token: token).withPointer { completion($0, userData) }
    }

    /// Returns the record of an event for the application to drain, and the object that the record points into.
    func record(_ event: PrefetchEvent, token: UInt64) -> (sdd_event, AnyObject) {
        var made = sdd_event()
        made.token = token
        made.user_data = userData
        switch event {
        case .step(let index, let result, let counts):
            let lent = LentStep(result, of: text(index), token: token, counts)
            made.kind = sdd_event_kind(SDD_EVENT_PREFETCHED)
            made.result = lent.result.pointer
            made.prefetch = lent.report?.pointer
            made.index = index
            return (made, lent)
        case .end(let report):
            let lent = LentReport(report, token: token)
            made.kind = sdd_event_kind(SDD_EVENT_PREFETCH_COMPLETED)
            made.prefetch = lent.pointer
            return (made, lent)
        }
    }

    /// Returns the URL at an index, as it was given; `nil` if it is not readable.
    private func text(_ index: Int) -> String? { asGiven[index] ?? (try? urls[index].get().text) }

    private static func asGiven(
        _ given: sdd_prefetch_list, _ urls: [Result<ImageURL, DownloadError>]
    ) -> [Int: String] {
        var texts: [Int: String] = [:]
        guard let pointers = given.urls else { return texts }
        for (index, url) in urls.enumerated() {
            // Safety: the library's header requires as many strings as `urls` was made of.
            guard let text = pointers[index], url.hasReadableURL(text) else { continue }
            if case .success(let made) = url, made.text.withCString({ strcmp($0, text) }) == 0 { continue }
            texts[index] = String(cString: text)
        }
        return texts
    }
}

/// The result for one URL of a list, with the URL, in C form. Thread: the one on which the downloader delivers.
private final class LentStep {
    private let url: CText?
    let result: LentResult
    /// The counts so far, for an application that drains events.
    let report: LentReport?

    init(_ source: DownloadResult, of url: String?, token: UInt64, _ counts: PrefetchCounts? = nil) {
        self.url = url.map { CText($0) }
        result = LentResult(source, token: token, url: self.url?.pointer)
        report = counts.map { LentReport($0, token: token) }
    }

    func withResult(_ body: (UnsafePointer<sdd_result>) -> Void) {
        withExtendedLifetime(self) { body(result.pointer) }
    }
}
