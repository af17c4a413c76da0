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
    ///   - load: nil if the request is no load's.
    package func request(
        for url: UnsafeBufferPointer<UInt8>?, _ defaults: RequestDefaults, for load: RequestOfLoad? = nil
    ) -> Result<DownloadRequest, DownloadError> {
        Result { () throws(DownloadError) in
            var draft = RequestDraft(url: unsafe try defaults.url(checking: url), headers: defaults.headers)
            try defaults.modify(&draft, nil)
            let made = try defaults.parts(draft, options, transfer: defaults.transferOptions(options))
            if let priority { made.priority = priority }
            if let form { made.form = form.with(options) }
            made.maxAttempts = maxAttempts
            load?.adapt(made)
            // Batches and lists show none.
            made.wantsPreviews = false
            try made.complete(options, defaults, isLoad: load != nil)
            return DownloadRequest(made)
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
        let load = RequestOfLoad(options: options, form: form)
        let made = unsafe request.request(for: url, defaults, for: load)
        return wish.plan(for: [LoadPlan.Source(made)])
    }

    /// Returns the plan of a load of a URL that was checked earlier, and is checked again by the current defaults.
    package func plan(for url: ImageURL, _ request: RequestWish, _ defaults: RequestDefaults) -> LoadPlan {
        var text = url.text
        return text.withUTF8 { unsafe plan(for: $0, request, defaults) }
    }
}

/// The wishes of a load for its download requests. A value type.
package struct RequestOfLoad: Sendable {
    /// The options of the load.
    let options: RequestOptions
    /// The form of the pixels in place of the request's; `nil` for the latter.
    let form: DecodeOptions?
    let transforms: TransformChain?

    package init(options: RequestOptions, form: DecodeOptions? = nil, transforms: TransformChain? = nil) {
        self.options = options
        self.form = form
        self.transforms = transforms
    }

    /// Makes a request the download of the load.
    package func adapt(_ made: DownloadRequest.Parts) {
        var form = form ?? made.form
        form.transforms = transforms
        form.transformsAnimated = options.contains(.transformAnimatedImage)
        // An empty chain has become none.
        form.keepsBytes = form.size == .none && form.transforms == nil
        made.form = form
    }
}
