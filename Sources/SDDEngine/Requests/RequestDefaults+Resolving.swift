import Glibc
package import SDDBase
package import SDDCoders
package import SDDTransport

// How a spec and the defaults of a downloader become the request for one URL: the only way to make one.

extension RequestDefaults {
    /// Returns the request for a URL, after running the application's request modifier. Thread: the submitting one.
    package func resolve(_ spec: RequestSpec, _ url: ImageURL) throws(DownloadError) -> DownloadRequest {
        let made = try parts(of: spec, transfer: try transfer(spec, url))
        if let sending = spec.sending { try made.setSink(sending.sink) }
        try made.complete(spec.options, self, isLoad: spec.load != nil, bodyLimit: bodyLimit(spec))
        return DownloadRequest(made)
    }

    /// Returns the parts of a request but those that depend on its URL: the lookup, and a sink.
    func parts(of spec: RequestSpec, transfer: HTTPRequest) throws(DownloadError) -> DownloadRequest.Parts {
        let made = try parts(spec, transfer: transfer)
        if let own = spec.transfer { made.apply(own, over: self) }
        made.totalLimit = shorter(made.totalLimit, spec.batchLimit)
        if let check = spec.check { made.bodyWork = .checking(check, before: made.bodyWork) }
        try made.setForm(spec, over: self)
        return made
    }

    /// Returns the transfer of all requests of a spec but for the URL.
    /// - Returns: nil if something else depends on the URL, or on the time of the submission.
    func plainTransfer(_ spec: RequestSpec) -> HTTPRequest? {
        guard !changesRequests, !spec.changesDraft, !spec.options.contains(.handleCookies), spec.load == nil,
            HTTPCacheLookup.Wishes(spec.options, self).isEmpty
        else { return nil }
        return HTTPRequest(url: ImageURL(key: ""), headers: self.headers, options: transferOptions(spec))
    }

    /// Returns the request for a URL that has not been checked, or the error that it will end with.
    /// - Parameter bytes: as for `url(checking:limit:)`.
    package func resolve(
        _ spec: RequestSpec, checking bytes: UnsafeBufferPointer<UInt8>?
    ) -> Result<DownloadRequest, DownloadError> {
        Result { () throws(DownloadError) in try resolve(spec, unsafe url(checking: bytes, limit: bodyLimit(spec))) }
    }

    /// The size of the largest body of a request.
    package func bodyLimit(_ spec: RequestSpec) -> Int64 {
        let own = spec.transfer?.values.maxBodyBytes ?? 0
        return own > 0 ? own : self.maxBodyBytes
    }

    private func transfer(_ spec: RequestSpec, _ url: ImageURL) throws(DownloadError) -> HTTPRequest {
        let options = transferOptions(spec)
        if !changesRequests, !spec.changesDraft {
            return HTTPRequest(
                url: url, headers: self.headers, options: options, appTransport: try appTransport(for: url))
        }
        let sending = spec.sending
        var fields = self.headers
        if let range = sending?.range { fields.set("Range", to: "bytes=" + range) }
        spec.transfer?.addHeaders(to: &fields)
        var draft = RequestDraft(url: url, method: sending?.method ?? "GET", headers: fields, body: sending?.body)
        try modify(&draft, spec.transfer?.values.modifiers)
        return HTTPRequest(
            url: draft.url, method: draft.method, headers: draft.headers, body: draft.body, options: options,
            appTransport: try appTransport(for: draft.url))
    }

    private func transferOptions(_ spec: RequestSpec) -> TransferOptions {
        let own = spec.transfer.flatMap { $0.changesOptions ? $0 : nil }
        if own == nil, spec.options.isDisjoint(with: .ofTransfer) { return options }
        var values = options.values
        values.apply(spec.options, cookies: self.cookies)
        own?.apply(to: &values, connectFollowsStall: self.connectFollowsStall)
        return TransferOptions(values)
    }

    /// Lets the application's request modifier change a draft.
    /// - Parameter own: the request's own modifiers, which take precedence over those of the downloader.
    private func modify(_ draft: inout RequestDraft, _ own: (any RequestModifiers)?) throws(DownloadError) {
        let isOwn = own?.changesRequests ?? false
        guard isOwn || changesRequests, let modifiers = isOwn ? own : self.modifiers else { return }
        guard modifiers.change(&draft, self) else {
            throw DownloadError(.invalidOperation, .modifier, "The request modifier refused the request.")
        }
    }

    private func parts(_ spec: RequestSpec, transfer: HTTPRequest) throws(DownloadError) -> DownloadRequest.Parts {
        let made = DownloadRequest.Parts(transfer: transfer, form: self.sharedForm, acceptance: self.acceptance)
        made.priority = spec.priority
        made.queueLimit = self.queueLimit * 1000
        made.totalLimit = self.totalLimit * 1000
        made.bodyWork = bodyWork
        made.wantsPixels = !spec.options.contains(.bytesOnly)
        made.wantsProgress = spec.wantsProgress
        made.wantsPreviews = made.wantsPixels && spec.wantsPreviews
        made.wantsFacts = spec.wantsFacts
        made.endsEarly = made.wantsPixels && spec.options.contains(.stopWhenComplete)
        made.continuesInBackground = spec.options.contains(.continueInBackground)
        return made
    }
}

/// Returns the shorter of two time limits; 0 means no limit.
func shorter(_ a: Int64, _ b: Int64) -> Int64 { a > 0 && b > 0 ? min(a, b) : max(a, b) }

extension DownloadRequest.Parts {
    fileprivate func apply(_ own: TransferSpec, over defaults: RequestDefaults) {
        let values = own.values
        acceptance = own.acceptance(over: defaults.acceptance)
        queueLimit = values.queueLimit.map { $0 * 1000 } ?? queueLimit
        totalLimit = values.totalLimit.map { $0 * 1000 } ?? totalLimit
        maxAttempts = values.maxAttempts
        if let modifiers = values.modifiers { bodyWork = modifiers.bodyWork(over: defaults.modifiers) }
    }

    /// A request that changes nothing shares the form of the defaults: it neither copies nor compares it.
    fileprivate func setForm(_ spec: RequestSpec, over defaults: RequestDefaults) throws(DownloadError) {
        let isLoad = spec.load != nil
        let isChanged = spec.hasForm || form.isChanged(by: spec.options)
        guard isLoad || isChanged || form.colour.resolved(forLoad: isLoad) != nil else { return try check(form) }
        var made = spec.wholeForm ?? (spec.form ?? form).with(spec.options)
        made.resolveColour(forLoad: isLoad)
        try check(made)
        if let load = spec.load {
            if spec.form?.isCallers == true, spec.options.contains(.refreshCached) {
                throw DownloadError(
                    .invalidOperation, .badDecode,
                    "sdd_decode_options.pixels and SDD_OPTION_REFRESH_CACHED exclude each other: the memory is lent for "
                        + "one picture, and the load may bring two.")
            }
            made.transforms = load.transforms
            made.transformsAnimated = spec.options.contains(.transformAnimatedImage)
            // An empty chain has become none.
            made.keepsBytes = made.size == .none && made.transforms == nil
        }
        form = made
    }

    private func check(_ form: DecodeOptions) throws(DownloadError) {
        guard form.isPossible else {
            throw DownloadError(
                .invalidOperation, .badDecode,
                "sdd_decode_options.pixels and SDD_OPTION_AVOID_DECODE_IMAGE exclude each other: the memory is lent for "
                    + "the request alone, and the picture would be decoded later.")
        }
    }

    fileprivate func setSink(_ sink: RequestSpec.Sink) throws(DownloadError) {
        let descriptor: Int32?
        switch sink {
        case .memory: return
        case .discard: descriptor = nil
        case .descriptor(let given): descriptor = given
        }
        guard bodyWork == nil else {
            throw DownloadError(
                .invalidOperation, .badSink,
                "The body cannot go to a sink where a response modifier, a body transform, integrity or expected_bytes "
                    + "wait for all of it.")
        }
        let acceptance = acceptance
        do throws(SystemError) {
            transfer.sink = try BodySink(descriptor: descriptor, accepts: { acceptance.takes($0) })
        } catch {
            guard [EMFILE, ENFILE, ENOMEM].contains(error.errno) else {
                throw DownloadError(
                    .invalidOperation, .badSink,
                    "sdd_download_request.sink_fd: \(descriptor ?? -1) is not an open descriptor.")
            }
            throw DownloadError(
                .invalidOperation, .noTransfer, "The process has no descriptor left for a copy of sink_fd.")
        }
        wantsPixels = false
    }

    /// Adds the cookies, the lookup in the HTTP cache, and the contents of a data: URL to an otherwise complete
    /// request.
    /// - Parameters:
    ///   - isLoad: whether the request is a load's.
    ///   - bodyLimit: the size of the largest body.
    fileprivate func complete(
        _ options: RequestOptions, _ defaults: RequestDefaults, isLoad: Bool, bodyLimit: Int64
    ) throws(DownloadError) {
        let wishes = HTTPCacheLookup.Wishes(options, defaults)
        if isLoad || !wishes.isEmpty { addCookies(of: defaults.cookies) }
        if !wishes.isEmpty {
            lookup = defaults.ownOrSharedCache.flatMap { HTTPCacheLookup($0, transfer, wishes) }
            if lookup == nil, wishes.contains(.http), transfer.usesNetwork { lookup = BarredLookup(transfer) }
        }
        if defaults.refusesDataURLs, transfer.url.scheme == .data, transfer.appTransport == nil {
            throw DownloadError(
                .invalidURL, .urlScheme,
                "The URL is a data: URL, and the downloader takes none.")
        }
        try answerDataURL(limit: bodyLimit)
    }

    /// Adds the cookies that will be sent, since the cache tells callers apart by their cookies.
    private func addCookies(of jar: CookieJar?) {
        guard transfer.options.values.usesCookies, transfer.appTransport == nil, let jar else { return }
        guard transfer.scheme.isHTTP else { return }
        transfer.cookies = jar.cookies(for: transfer.url)
    }
}

extension HTTPRequest {
    /// Whether the request goes to a server, or to a transport of the application, which stands for one.
    fileprivate var usesNetwork: Bool { hasAppTransport || scheme.isHTTP }
}

extension DecodeOptions {
    /// Returns this form with option bits applied.
    package func with(_ options: RequestOptions) -> DecodeOptions {
        var form = self
        if form.frames != .still {
            if options.contains(.preloadAllFrames) { form.frames = .preload }
            if options.contains(.decodeFirstFrameOnly) { form.frames = .firstOnly }
        }
        form.isLazy = options.contains(.avoidDecodeImage)
        return form
    }

    /// Whether `with(_:)` would return another form than this.
    func isChanged(by options: RequestOptions) -> Bool { isLazy || !options.isDisjoint(with: .ofForms) }
}

extension RequestOptions {
    /// The options that change the options of a transfer.
    package static let ofTransfer: RequestOptions = [.handleCookies, .allowInvalidCertificates, .bodyAsSent]
    /// The options that change the form of the pixels.
    static let ofForms: RequestOptions = [.preloadAllFrames, .decodeFirstFrameOnly, .avoidDecodeImage]
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
