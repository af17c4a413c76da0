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
    return answer(orElse: 0) { () throws(Refusal) in try submit(request, to: downloader, names: .arguments) }
}

@_cdecl("sdd_downloader_submit") @implementation
public func sdd_downloader_submit(
    _ downloader: OpaquePointer?, _ request: UnsafePointer<sdd_download_request>?,
    _ out: UnsafeMutablePointer<sdd_status>?
) -> sdd_token {
    var token: sdd_token = 0
    let status = status { () throws(Refusal) in
        var copy = sdd_download_request()
        try read(request, "request", into: &copy, minimum: throughCompleted)
        token = try submit(copy, to: downloader, names: .download)
    }
    out?.pointee = status
    return token
}

/// Bytes of a request through `completed`. Smaller structs are refused: they name no function to call at the end.
private let throughCompleted =
    (MemoryLayout<sdd_download_request>.offset(of: \sdd_download_request.completed) ?? 0)
    + MemoryLayout<sdd_result_fn?>.size

private func submit(
    _ request: sdd_download_request, to handle: OpaquePointer?, names: RequestNames
) throws(Refusal) -> sdd_token {
    let client = try Downloaders.client(handle)
    guard request.completed != nil || client.downloader.isAppDriven else { throw nobodyToTell(names.completed) }
    guard request.reserved == 0 else { throw .reserved("sdd_download_request.reserved") }
    guard request.reserved2 == 0 else { throw .reserved("sdd_download_request.reserved2") }
    let modifiers = try AppModifiers.make(request.modifiers, "sdd_download_request.modifiers")
    let purpose = RequestPurpose(
        showsPreviews: request.preview != nil || client.downloader.isAppDriven, names: names)
    let made = makeRequest(request, client.currentDefaults, modifiers, for: purpose)
    let callbacks = RequestCallbacks(request, keepsURL: made.hasReadableURL(request.url))
    guard let token = client.downloader.submit(made, callbacks: callbacks) else { throw destroyedMeanwhile() }
    modifiers?.data.own()
    return token
}

/// Returns the refusal of a missing `completed` for a downloader that delivers on its own thread.
func nobodyToTell(_ completed: Place) -> Refusal {
    Refusal(
        SDD_ERROR_INVALID_ARGUMENT, completed,
        "NULL is allowed with SDD_DELIVERY_APPLICATION alone, where events tell how a request ends")
}

/// Returns the refusal for a downloader that was destroyed after its handle was resolved, before it took the request.
func destroyedMeanwhile() -> Refusal {
    Refusal(SDD_ERROR_CLOSED, "downloader", "another thread has destroyed it meanwhile")
}

extension Result<DownloadRequest, DownloadError> {
    /// Whether the URL can be passed back as a string: false if it is NULL, too long or not UTF-8.
    func hasReadableURL(_ url: UnsafePointer<CChar>?) -> Bool {
        switch self {
        case .success: return true
        case .failure(let error):
            // The request was refused before its URL was checked.
            if error.detail == .unknownOptions { return isReadable(url) }
            return ![.urlNull, .urlTooLong, .urlNotUTF8].contains(error.detail)
        }
    }
}

private func isReadable(_ url: UnsafePointer<CChar>?) -> Bool {
    guard let bytes = bytes(of: url, limit: ImageURL.maxLength), bytes.count <= ImageURL.maxLength else { return false }
    return String(validating: bytes, as: UTF8.self) != nil
}

// MARK: - Blocking downloads

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
        request.url = url
        request.options = image == nil ? options | UInt64(SDD_OPTION_BYTES_ONLY) : options
        // In the request 0 means the downloader's limit; for this call it means no time at all.
        request.total_timeout_ms = milliseconds < 0 ? 0 : max(1, min(milliseconds, longestLimit))
        let result = try result(of: request, from: Downloaders.client(downloader))
        response?.pointee = Handle.retained(result.response)
        if let error = result.error { throw Refusal(error) }
        image?.pointee = Handle.retained(result.image)
        bytes?.pointee = Handle.retained(result.bytes)
    }
}

private func result(of request: sdd_download_request, from client: Client) throws(Refusal) -> DownloadResult {
    let callbacks = WaitingCallbacks()
    let made = makeRequest(request, client.currentDefaults, nil, for: RequestPurpose(use: .get, names: .arguments))
    guard client.downloader.submit(made, callbacks: callbacks, isImmediate: true) != nil else {
        throw destroyedMeanwhile()
    }
    return callbacks.wait()
}
