package import SDDBase
package import SDDCoders
package import SDDTransport

// The meaning of option bits, and of the defaults of a downloader, for one request.

extension RequestDefaults {
    /// Returns the parts of the request for a draft, with the defaults for everything except the option bits.
    /// - Parameter transfer: the options of the transfer, which the option bits have been applied to.
    package func parts(
        _ draft: RequestDraft, _ options: RequestOptions, transfer: TransferOptions
    ) throws(DownloadError) -> DownloadRequest.Parts {
        try parts(
            of: HTTPRequest(
                url: draft.url, method: draft.method, headers: draft.headers, body: draft.body, options: transfer,
                plugin: plugin(for: draft.url)),
            options)
    }

    private func parts(of transfer: HTTPRequest, _ options: RequestOptions) -> DownloadRequest.Parts {
        let made = DownloadRequest.Parts(transfer: transfer, form: sharedForm, acceptance: acceptance)
        made.queueLimit = queueLimit * 1000
        made.totalLimit = totalLimit * 1000
        made.bodyWork = bodyWork
        made.apply(options)
        return made
    }

    /// Returns the parts of the request for a URL that no modifier changes, as it is for most requests.
    package func parts(
        url: ImageURL, _ options: RequestOptions, transfer: TransferOptions
    ) throws(DownloadError) -> DownloadRequest.Parts {
        parts(of: HTTPRequest(url: url, headers: headers, options: transfer, plugin: try plugin(for: url)), options)
    }

    /// Lets the application's request modifier change a draft.
    /// - Parameter own: the request's own modifiers, which take precedence over those of the downloader.
    package func modify(_ draft: inout RequestDraft, _ own: (any RequestModifiers)?) throws(DownloadError) {
        let isOwn = own?.changesRequests ?? false
        guard isOwn || changesRequests, let modifiers = isOwn ? own : modifiers else { return }
        guard modifiers.change(&draft, self) else {
            throw DownloadError(.invalidOperation, .modifier, "The request modifier refused the request.")
        }
    }
}

extension RequestDefaults {
    /// Returns the options of the transfer of a request that sets none of its own.
    package func transferOptions(_ options: RequestOptions) -> TransferOptions {
        if options.isDisjoint(with: .ofTransfer) { return self.options }
        var values = self.options.values
        values.apply(options, cookies: cookies)
        return TransferOptions(values)
    }
}

extension DownloadRequest.Parts {
    /// Applies all option bits but those about the transfer (`TransferOptions.Values.apply`) and caches (`complete`).
    package func apply(_ options: RequestOptions) {
        priority = Priority(options)
        if form.isChanged(by: options) { form = form.with(options) }
        wantsPixels = !options.contains(.bytesOnly)
        wantsProgress = options.contains(.progressEvents)
        wantsPreviews = wantsPixels && options.contains(.progressiveLoad)
        wantsFacts = options.contains(.factsEvents)
        endsEarly = wantsPixels && options.contains(.stopWhenComplete)
        continuesInBackground = options.contains(.continueInBackground)
    }

    /// Adds the cookies, the lookup in the HTTP cache, and the contents of a data: URL to an otherwise complete
    /// request.
    /// - Parameter isLoad: whether the request is a load's.
    package func complete(
        _ options: RequestOptions, _ defaults: RequestDefaults, isLoad: Bool
    ) throws(DownloadError) {
        let wishes = HTTPCacheLookup.Wishes(options, defaults)
        if isLoad || !wishes.isEmpty { addCookies(of: defaults.cookies) }
        if !wishes.isEmpty {
            lookup = defaults.ownOrSharedCache.flatMap { HTTPCacheLookup($0, transfer, wishes) }
        }
        if defaults.refusesDataURLs, transfer.url.scheme == .data, transfer.plugin == nil {
            throw DownloadError(
                .invalidURL, .urlScheme,
                "The URL is a data: URL, and the downloader takes none.")
        }
        try answerDataURL(limit: defaults.maxBodyBytes)
    }

    /// Adds the cookies that will be sent, since the cache tells callers apart by their cookies.
    private func addCookies(of jar: CookieJar?) {
        guard transfer.options.values.usesCookies, transfer.plugin == nil, let jar else { return }
        guard transfer.url.scheme == .http || transfer.url.scheme == .https else { return }
        transfer.cookies = jar.cookies(for: transfer.url)
    }
}

extension Priority {
    /// The priority that option bits ask for. If both bits are set, the higher priority counts.
    package init(_ options: RequestOptions) {
        self = options.contains(.highPriority) ? .high : options.contains(.lowPriority) ? .low : .normal
    }
}

extension DecodeOptions {
    /// Returns this form with option bits applied.
    package func with(_ options: RequestOptions) -> DecodeOptions {
        var form = options.contains(.scaleDownLargeImages) ? scaledDown : self
        if options.contains(.preloadAllFrames) { form.frames = .preload }
        if options.contains(.decodeFirstFrameOnly) { form.frames = .firstOnly }
        form.isLazy = options.contains(.avoidDecodeImage)
        return form
    }

    /// Whether `with(_:)` would return another form than this.
    func isChanged(by options: RequestOptions) -> Bool { isLazy || !options.isDisjoint(with: .ofForms) }

    /// The form for `scaleDownLargeImages`: limited to 60 MiB unless it has a byte limit of its own.
    private var scaledDown: DecodeOptions {
        if size.byteLimit > 0 { return self }
        var form = self
        form.size = SizeRule(byteLimit: 60 << 20, isExact: size.isExact)
        return form
    }
}

extension RequestOptions {
    /// The options that change the options of a transfer.
    package static let ofTransfer: RequestOptions = [.handleCookies, .allowInvalidCertificates, .bodyAsSent]
    /// The options that change the form of the pixels.
    static let ofForms: RequestOptions = [
        .scaleDownLargeImages, .preloadAllFrames, .decodeFirstFrameOnly, .avoidDecodeImage,
    ]
}

extension TransferOptions.Values {
    /// Applies the option bits about the transfer.
    /// - Parameter cookies: the downloader's jar.
    package mutating func apply(_ options: RequestOptions, cookies: CookieJar?) {
        verifiesCertificate = !options.contains(.allowInvalidCertificates)
        usesCookies = options.contains(.handleCookies)
        if usesCookies { cookieVersion = cookies?.version ?? 0 }
        staysPacked = options.contains(.bodyAsSent)
    }
}

extension HTTPCacheLookup.Wishes {
    /// The ways in which a request uses the HTTP cache.
    init(_ options: RequestOptions, _ defaults: RequestDefaults) {
        self = []
        // What is ignored is compared with, so that the option uses the HTTP cache by itself.
        if defaults.usesHTTPCache || !options.isDisjoint(with: [.useHTTPCache, .ignoreCachedResponse]) {
            insert(.http)
            if options.contains(.ignoreCachedResponse) { insert(.ignoresCached) }
        }
        if defaults.resumes || options.contains(.resume) { insert(.resumes) }
    }
}
