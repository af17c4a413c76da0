public import CSDD
internal import SDDBase
internal import SDDEngine

@_cdecl("sdd_request_init") @implementation
public func sdd_request_init(_ request: UnsafeMutablePointer<sdd_request>?, _ structSize: Int) -> sdd_status {
    status { () throws(Refusal) in try initialize(request, size: structSize) }
}

@_cdecl("sdd_download") @implementation
public func sdd_download(
    _ downloader: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ options: UInt64, _ progress: sdd_progress_fn?,
    _ completed: sdd_completed_fn?, _ userData: UnsafeMutableRawPointer?
) -> sdd_token {
    var request = sdd_request()
    request.url = url
    request.options = options
    request.progress = progress
    request.completed = completed
    request.user_data = userData
    return (try? submit(request, to: downloader)) ?? 0
}

@_cdecl("sdd_download_request") @implementation
public func sdd_download_request(
    _ downloader: OpaquePointer?, _ request: UnsafePointer<sdd_request>?, _ out: UnsafeMutablePointer<sdd_status>?
) -> sdd_token {
    var token: sdd_token = 0
    let status = status { () throws(Refusal) in
        var copy = sdd_request()
        try read(request, into: &copy, minimum: throughCompleted)
        token = try submit(copy, to: downloader)
    }
    out?.pointee = status
    return token
}

/// Bytes of a request up to and with `completed`: without that one there is nobody to tell.
private let throughCompleted =
    (MemoryLayout<sdd_request>.offset(of: \sdd_request.completed) ?? 0) + MemoryLayout<sdd_completed_fn?>.size

private func submit(_ request: sdd_request, to handle: OpaquePointer?) throws(Refusal) -> sdd_token {
    let downloader = try Handle.downloader(handle)
    guard request.completed != nil || downloader.isHostDriven else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    let made = makeRequest(request, for: downloader)
    let receiver = CallbackReceiver(request, keepsURL: made.hasReadableURL)
    guard let token = downloader.submit(made, receiver: receiver) else { throw Refusal(SDD_ERROR_CLOSED) }
    return token
}

extension Result<DownloadRequest, DownloadError> {
    /// Whether the URL can be given back as a string: not when it is NULL, endless, or not UTF-8.
    fileprivate var hasReadableURL: Bool {
        switch self {
        case .success: true
        case .failure(let error): ![.urlNull, .urlTooLong, .urlNotUTF8, .unknownOptions].contains(error.detail)
        }
    }
}

@_cdecl("sdd_cancel") @implementation
public func sdd_cancel(_ downloader: OpaquePointer?, _ token: sdd_token) -> sdd_status {
    status { () throws(Refusal) in
        guard try Handle.downloader(downloader).cancel(token) else { throw Refusal(SDD_ERROR_NOT_FOUND) }
    }
}

@_cdecl("sdd_cancel_all") @implementation
public func sdd_cancel_all(_ downloader: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in try Handle.downloader(downloader).cancelAll() }
}
