package import SDDBase
package import SDDCoders
import SDDTransport

/// The wishes of requests that leave everything else to the downloader's defaults. Read once for a batch or a list, and
/// used for each of its URLs. A value type.
package struct RequestWish: Sendable {
    package var options: RequestOptions
    /// `nil` leaves the priority to the options.
    package var priority: Priority?
    /// The form of the pixels, before the options are applied; `nil` means the downloader's.
    package var form: DecodeOptions?
    /// The maximum number of transfers, including the first; 0 uses the downloader's rules.
    package var maxAttempts: Int32

    package init(
        options: RequestOptions = [], priority: Priority? = nil, form: DecodeOptions? = nil, maxAttempts: Int32 = 0
    ) {
        self.options = options
        self.priority = priority
        self.form = form
        self.maxAttempts = maxAttempts
    }

    /// Returns the request for a URL, after running the downloader's request modifier, or the error it will end with.
    /// - Parameters:
    ///   - url: as for `RequestDefaults.url(checking:)`.
    ///   - isLoad: whether the request is a load's.
    package func request(
        for url: UnsafeBufferPointer<UInt8>?, _ defaults: RequestDefaults, isLoad: Bool = false
    ) -> Result<DownloadRequest, DownloadError> {
        Result { () throws(DownloadError) in
            var draft = RequestDraft(url: unsafe try defaults.url(checking: url), headers: defaults.headers)
            try defaults.modify(&draft, nil)
            var made = try defaults.request(draft, options, transfer: defaults.transferOptions(options))
            if let priority { made.priority = priority }
            if let form { made.form = form.with(options) }
            made.maxAttempts = maxAttempts
            try made.complete(options, defaults, isLoad: isLoad)
            return made
        }
    }
}

extension LoadWish {
    /// Returns the plan of a load of one URL, with everything that is not in the wishes from the defaults.
    /// - Parameters:
    ///   - url: as for `RequestDefaults.url(checking:)`.
    ///   - request: the wishes of the download; its options are those of this load.
    ///   - defaults: those of the loader's downloader.
    ///   - form: the form of the pixels in place of the request's; no option is applied to it.
    package func plan(
        for url: UnsafeBufferPointer<UInt8>?, _ request: RequestWish, _ defaults: RequestDefaults,
        in form: DecodeOptions? = nil
    ) -> LoadPlan {
        let defaults = defaults.withCaches(caches)
        var wish = self
        wish.totalLimit = defaults.totalLimit * 1000
        wish.usesHTTPCache = defaults.usesHTTPCache
        var request = request
        request.options = options.withCaches(caches)
        let made = unsafe request.request(for: url, defaults, isLoad: true).map { made in
            var made = made
            if let form { made.form = form }
            return made.ofLoad(options, transforms: nil, showsPreviews: false)
        }
        return wish.plan(for: [LoadPlan.Source(made)])
    }

    /// Returns the plan of a load of a URL that was checked earlier, and is checked again by the current defaults.
    package func plan(for url: ImageURL, _ request: RequestWish, _ defaults: RequestDefaults) -> LoadPlan {
        var text = url.text
        return text.withUTF8 { unsafe plan(for: $0, request, defaults) }
    }
}

extension DownloadRequest {
    /// Returns this request as the download of a load.
    /// - Parameters:
    ///   - options: those of the load.
    ///   - showsPreviews: false if previews would reach neither a callback nor an event.
    package func ofLoad(
        _ options: RequestOptions, transforms: TransformChain?, showsPreviews: Bool
    ) -> DownloadRequest {
        var made = self
        made.form.transforms = transforms
        made.form.transformsAnimated = options.contains(.transformAnimatedImage)
        made.form = made.form.withOwnBytesAlone
        if !showsPreviews { made.wantsPreviews = false }
        return made
    }
}
