package import SDDBase
package import SDDCoders
package import SDDTransport

/// One caller's wish of a loader, checked: where to look first, what to download, and what becomes of it. Immutable once it
/// is submitted.
package struct LoadPlan: Sendable {
    /// What is downloaded, in this order until one comes to something; at least one.
    package var sources: [Source]
    /// Asked first; nil where no cache is.
    package var inquiry: PictureInquiry?
    package var form = PixelForm()
    package var wantsPixels = true
    package var wantsFacts = false
    package var priority = Priority.normal
    /// Microseconds, of all stages together; 0 for no limit.
    package var totalLimit: Int64 = 0
    package var options: Options = []
    package var store: Store?
    /// Where what the server is asked about is.
    package var refreshed: Refreshed?

    package struct Refreshed: Sendable {
        let cache: ImageCache
        let key: String

        package init(cache: ImageCache, key: String) {
            self.cache = cache
            self.key = key
        }
    }

    /// One URL of the picture.
    package struct Source: Sendable {
        /// As the host has given it.
        package let url: String
        package let request: Result<DownloadRequest, DownloadError>
        /// As the list of failed URLs knows it: by the URL without user and password, and by who asks.
        let failedKey: String
        let asker: FailedURLAsker
        /// Who asks; nobody in particular where the request cannot be.
        package var caller: Caller { asker.caller }

        package init(url: String, request: Result<DownloadRequest, DownloadError>) {
            self.url = url
            self.request = request
            switch request {
            case .success(let made):
                failedKey =
                    url.isEmpty ? "" : made.transfer.url.hasUserinfo ? made.transfer.url.textWithoutUserinfo : url
                asker = FailedURLAsker(made)
            case .failure:
                failedKey = url
                asker = .standard
            }
        }
    }

    package struct Options: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }
        package static let retryFailed = Options(rawValue: 1)
        package static let refreshCached = Options(rawValue: 2)
        package static let fromCacheOnly = Options(rawValue: 4)
        package static let waitsForStore = Options(rawValue: 8)
        /// What the cache has is asked for on the submitting thread.
        package static let asksInPlace = Options(rawValue: 16)
        /// The bytes of what the cache has on disk, also of a picture that is made to a size.
        package static let wantsEntryBytes = Options(rawValue: 32)
    }

    /// Where pictures go that were downloaded.
    package struct Store: Sendable {
        package let cache: ImageCache
        /// Of the form that is wanted; nil: it has no key, and is not stored.
        package let key: String?
        package let levels: CacheLevels
        /// It is not the original, whose bytes are stored by themselves.
        package let isMade: Bool
        package let original: OriginalKeeper?

        package init(
            cache: ImageCache, key: String?, levels: CacheLevels, isMade: Bool, original: OriginalKeeper?
        ) {
            self.cache = cache
            self.key = key
            self.levels = levels
            self.isMade = isMade
            self.original = original
        }
    }

    package init(sources: [Source]) { self.sources = sources }

    /// Who sees to it that of several processes one downloads what all are to have on disk; nil where that is not to be.
    func sharing(_ request: DownloadRequest) -> HTTPInquiry? {
        guard inquiry?.takesOriginals == true, let keeper = store?.original, keeper.levels.contains(.disk),
            keeper.cache.shareWait != nil
        else { return nil }
        var wishes: HTTPInquiry.Wishes = .pictures
        if let other = request.inquiry {
            guard let http = other as? HTTPInquiry, http.wishes == .resumes else { return nil }
            wishes.insert(.resumes)
        }
        return HTTPInquiry(keeper.cache, request.transfer, wishes, key: keeper.key)
    }

    /// Who asks the server whether what is stored is still right; nil where there is no HTTP to ask by.
    func refreshing(_ request: DownloadRequest, isShown: Bool) -> HTTPInquiry? {
        guard let refreshed else { return nil }
        // What the host makes of a body is not what a server could speak of.
        var wishes: HTTPInquiry.Wishes = request.bodyWork == nil ? .http : []
        if isShown { wishes.insert(.ignoresCached) }
        return HTTPInquiry(refreshed.cache, request.transfer, wishes, key: refreshed.key)
    }
}
