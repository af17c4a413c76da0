public import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

@_cdecl("sdd_download") @implementation
public func sdd_download(
    _ downloader: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ options: UInt64, _ progress: sdd_progress_fn?,
    _ completed: sdd_result_fn?, _ userData: UnsafeMutableRawPointer?
) -> sdd_token {
    var request = sdd_download_request()
    request.url = url
    request.options = options
    request.progress = progress
    request.completed = completed
    request.user_data = userData
    return answer(orElse: 0) { () throws(Refusal) in try submit(request, to: downloader, isShort: true) }
}

@_cdecl("sdd_downloader_submit") @implementation
public func sdd_downloader_submit(
    _ downloader: OpaquePointer?, _ request: UnsafePointer<sdd_download_request>?
) -> sdd_token {
    answer(orElse: 0) { () throws(Refusal) in
        try submit(read(request, "request"), to: downloader)
    }
}

/// - Parameter isShort: whether the request consists of the arguments of a short call.
private func submit(
    _ request: sdd_download_request, to handle: OpaquePointer?, isShort: Bool = false
) throws(Refusal) -> sdd_token {
    let client = try Downloaders.client(handle)
    let isAppDriven = client.downloader.isAppDriven
    guard request.completed != nil || isAppDriven else {
        throw nobodyToTell(isShort ? "completed" : "sdd_download_request.completed")
    }
    let transfer = try GivenTransfer.given(request.transfer, "sdd_download_request.transfer")
    let made: Result<DownloadRequest, DownloadError>
    switch plain(request, client) {
    case .success(let plain?):
        guard let token = client.downloader.submit(plain) else { throw destroyedMeanwhile() }
        return token
    case .success(nil):
        let spec = request.download(transfer, for: .download, hasEvents: isAppDriven, isShort ? "options" : nil)
        made = client.currentDefaults.request(spec, request.url)
    case .failure(let error): made = .failure(error)
    }
    let callbacks = RequestCallbacks(request, keepsURL: made.hasReadableURL(request.url))
    guard let token = client.downloader.submit(made, callbacks: callbacks) else { throw destroyedMeanwhile() }
    transfer?.appData.own()
    return token
}

/// Returns the request as a plain one, nil if it is none, or the error that it ends with.
private func plain(_ request: sdd_download_request, _ client: Client) -> Result<PlainRequest?, DownloadError> {
    guard let kind = client.plainKind(of: request), let url = bytes(of: request.url, limit: ImageURL.maxLength) else {
        return .success(nil)
    }
    return Result { () throws(DownloadError) in
        try PlainRequest(kind, url: url, userData: UserData(request.user_data))
    }
}

/// Returns the refusal of a missing `completed` for a downloader that delivers on its own thread.
func nobodyToTell(_ completed: Place) -> Refusal {
    Refusal(
        SDD_ERROR_INVALID_ARGUMENT, completed,
        "NULL is allowed with SDD_DELIVERY_APPLICATION alone, where events tell how a request ends")
}

// MARK: - Downloads that are waited for

@_cdecl("sdd_downloader_submit_wait") @implementation
public func sdd_downloader_submit_wait(
    _ downloader: OpaquePointer?, _ request: UnsafePointer<sdd_download_request>?, _ milliseconds: Int64,
    _ out: UnsafeMutablePointer<UnsafeMutablePointer<sdd_result>?>?
) -> sdd_status {
    out?.pointee = nil
    return status { () throws(Refusal) in
        let copy = try read(request, "request")
        try copy.refuseCallbacks()
        let client = try Downloaders.client(downloader)
        let transfer = try GivenTransfer.given(copy.transfer, "sdd_download_request.transfer")
        let spec = copy.download(transfer, for: .downloadWait, hasEvents: false)
        let result = try result(of: spec, copy.url, client, milliseconds, transfer?.appData ?? [])
        out?.pointee = OwnedResult.make(result, url: copy.url)
        if let error = result.error { throw Refusal(error, of: result) }
    }
}

@_cdecl("sdd_get") @implementation
public func sdd_get(
    _ downloader: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ options: UInt64, _ milliseconds: Int64,
    _ image: UnsafeMutablePointer<OpaquePointer?>?, _ bytes: UnsafeMutablePointer<OpaquePointer?>?,
    _ response: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    status { () throws(Refusal) in
        image?.pointee = nil
        bytes?.pointee = nil
        response?.pointee = nil
        var request = sdd_download_request()
        request.options = image == nil ? options | UInt64(SDD_OPTION_BYTES_ONLY) : options
        let client = try Downloaders.client(downloader)
        let spec = request.download(nil, for: .downloadWait, hasEvents: false, "options")
        let result = try result(of: spec, url, client, milliseconds)
        response?.pointee = Handle.retained(result.response)
        if let error = result.error { throw Refusal(error, of: result) }
        image?.pointee = Handle.retained(result.image)
        bytes?.pointee = Handle.retained(result.bytes)
    }
}

/// Makes a download and waits for its end.
/// - Parameter milliseconds: the limit of the call; negative for none.
private func result(
    of spec: Result<RequestSpec, DownloadError>, _ url: UnsafePointer<CChar>?, _ client: Client, _ milliseconds: Int64,
    _ appData: [AppData] = []
) throws(Refusal) -> DownloadResult {
    let callbacks = WaitingCallbacks()
    let limited = spec.map { $0.limited(to: milliseconds) }
    let made = client.currentDefaults.request(limited, url)
    guard client.downloader.submit(made, callbacks: callbacks, isImmediate: true) != nil else {
        throw destroyedMeanwhile()
    }
    appData.own()
    return callbacks.wait()
}

extension RequestSpec {
    /// Returns the spec with the limit of a call that waits. Negative: none; 0 is no time at all.
    func limited(to milliseconds: Int64) -> RequestSpec {
        if milliseconds < 0 { return self }
        var spec = self
        spec.batchLimit = max(1, min(milliseconds, longestLimit)) * 1000
        return spec
    }
}
