package import SDDBase
package import SDDCoders
package import SDDTransport

/// A checked request to a loader: where to look first, what to download, and where to store it. Immutable once
/// submitted.
package struct LoadPlan: Sendable {
    /// The sources to download from, tried in this order until one succeeds; at least one.
    package var sources: [Source]
    /// The cache lookup made first; `nil` if no cache is used.
    package var lookup: ImageCacheLookup?
    package var form = DecodeOptions()
    package var wantsPixels = true
    package var wantsFacts = false
    package var priority = Priority.normal
    /// Microseconds for all stages together; 0 means no limit.
    package var totalLimit: Int64 = 0
    /// Those of `RequestSpec.options` that concern the stages.
    package var options: RequestOptions = []
    package var store: Store?
    /// The cache entry that a refresh asks the server about.
    package var refreshed: Refreshed?

    package struct Refreshed: Sendable {
        let cache: ImageCache
        let key: String
    }

    /// One URL of the image.
    package struct Source: Sendable {
        /// The URL as the application gave it; a request modifier may send another.
        package let url: String
        package let request: Result<DownloadRequest, DownloadError>
        /// The keys of `FailedURLs`: the URL without user and password, and the request's `asker`.
        let failedKey: String
        let asker: FailedURLAsker
        /// Whether the request looks in the HTTP cache before it downloads.
        var usesHTTPCache: Bool {
            guard case .success(let made) = request, let lookup = made.lookup as? HTTPCacheLookup else { return false }
            return lookup.wishes.contains(.http)
        }
        /// The caller's identity; anonymous if the request is invalid.
        package var caller: RequestIdentity { asker.caller }

        /// - Parameter key: the URL without user and password.
        package init(url: String, key: String? = nil, request: Result<DownloadRequest, DownloadError>) {
            self.url = url
            self.request = request
            switch request {
            case .success(let made):
                // What fails for a part of the body, or another method, says nothing of the picture.
                failedKey = made.transfer.asksForWhole ? key ?? url : ""
                asker = FailedURLAsker(made)
            case .failure:
                failedKey = url
                asker = .standard
            }
        }

        /// - Parameter asked: the URL as the application gave it; nil: no modifier has changed that of the request.
        package init(_ request: Result<DownloadRequest, DownloadError>, of asked: ImageURL? = nil) {
            guard case .success(let made) = request else {
                self.init(url: "", request: request)
                return
            }
            let url = asked ?? made.transfer.url
            let text = Self.askedURL(url.text)
            self.init(url: text, key: url.hasUserinfo ? url.textWithoutUserinfo : text, request: request)
        }

        /// Returns a URL as hooks and failure records get it; "" for a data: URL longer than other URLs may be.
        package static func askedURL(_ text: String) -> String {
            text.utf8.count <= ImageURL.maxLength ? text : ""
        }
    }

    /// The destination of downloaded images.
    package struct Store: Sendable {
        package let cache: ImageCache
        /// The key of the wanted form; `nil` if the form has no key and is not stored.
        package let key: String?
        package let levels: CacheLevels
        /// True if the image is not the original; the original's bytes are stored separately.
        package let isMade: Bool
        package let original: OriginalKeeper?

        /// The keeper of the image in memory; `nil` if it is not kept there.
        var pixelKeeper: PictureKeeper? {
            guard let key, levels.contains(.memory) else { return nil }
            return PictureKeeper(cache: cache, key: key)
        }
    }

    package init(sources: [Source]) { self.sources = sources }

    /// The error if no source can be tried, because all are invalid: that of the first one.
    var refusal: DownloadError? {
        var first: DownloadError?
        for source in sources {
            guard case .failure(let error) = source.request else { return nil }
            first = first ?? error
        }
        return first
    }

    /// Returns a lookup that lets only one of several processes download an image that all want on disk; `nil` if that
    /// does not apply.
    func sharing(_ request: DownloadRequest) -> HTTPCacheLookup? {
        guard lookup?.takesOriginals == true, let keeper = store?.original, keeper.levels.contains(.disk),
            keeper.cache.shareWait != nil
        else { return nil }
        var wishes: HTTPCacheLookup.Wishes = .pictures
        if let other = request.lookup {
            guard let http = other as? HTTPCacheLookup, http.wishes == .resumes else { return nil }
            wishes.insert(.resumes)
        }
        return HTTPCacheLookup(keeper.cache, request.transfer, wishes, key: keeper.key)
    }

    /// Returns a lookup that asks the server whether the stored entry is current; `nil` if the request is not HTTP.
    func refreshing(_ request: DownloadRequest, isShown: Bool) -> HTTPCacheLookup? {
        let shown: HTTPCacheLookup.Wishes = isShown ? [.ignoresCached, .asksServer] : []
        if let asked = request.lookup as? HTTPCacheLookup, asked.wishes.contains(.http) {
            let wishes = asked.wishes.union(shown).union(.asksServer)
            return HTTPCacheLookup(asked.cache, request.transfer, wishes, key: asked.key)
        }
        guard let refreshed else { return nil }
        // A server cannot revalidate a body that the application has changed.
        let wishes: HTTPCacheLookup.Wishes = request.bodyWork == nil ? [.http, .refreshesLoad, .asksServer] : []
        return HTTPCacheLookup(refreshed.cache, request.transfer, wishes.union(shown), key: refreshed.key)
    }
}
