public import CSDD
internal import SDDBase
internal import SDDEngine

// Creating and destroying loaders, submitting loads, and the list of failed URLs.

@_cdecl("sdd_loader_create") @implementation
public func sdd_loader_create(
    _ config: UnsafePointer<sdd_loader_config>?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let out else { throw .null("out") }
        out.pointee = nil
        var copy = sdd_loader_config()
        if config != nil { try read(config, "config", into: &copy) }
        out.pointee = Handle.loaders.add(try makeLoader(copy))
    }
}

@_cdecl("sdd_loader_destroy") @implementation
public func sdd_loader_destroy(_ loader: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in try Handle.loaders.remove(loader, "loader").close() }
}

@_cdecl("sdd_loader_shared") @implementation
public func sdd_loader_shared() -> OpaquePointer? {
    answer(orElse: nil) { () throws(Refusal) in try Loaders.shared().handle }
}

@_cdecl("sdd_load") @implementation
public func sdd_load(
    _ loader: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ options: UInt64, _ progress: sdd_progress_fn?,
    _ completed: sdd_result_fn?, _ userData: UnsafeMutableRawPointer?
) -> sdd_token {
    var request = sdd_load_request()
    request.url = url
    request.options = options
    request.progress = progress
    request.completed = completed
    request.user_data = userData
    return answer(orElse: 0) { () throws(Refusal) in try submit(request, to: loader, names: .arguments) }
}

@_cdecl("sdd_loader_submit") @implementation
public func sdd_loader_submit(
    _ loader: OpaquePointer?, _ request: UnsafePointer<sdd_load_request>?, _ out: UnsafeMutablePointer<sdd_status>?
) -> sdd_token {
    var token: sdd_token = 0
    let status = status { () throws(Refusal) in
        var copy = sdd_load_request()
        try read(request, "request", into: &copy, minimum: throughCompleted)
        token = try submit(copy, to: loader, names: .load)
    }
    out?.pointee = status
    return token
}

/// Bytes of a request through `completed`. Smaller structs are refused: they name no function to call at the end.
private let throughCompleted =
    (MemoryLayout<sdd_load_request>.offset(of: \sdd_load_request.completed) ?? 0)
    + MemoryLayout<sdd_result_fn?>.size

private func submit(
    _ request: sdd_load_request, to handle: OpaquePointer?, names: RequestNames
) throws(Refusal) -> sdd_token {
    let client = try Loaders.loader(handle)
    guard request.completed != nil || client.client.downloader.isAppDriven else {
        throw nobodyToTell(names.completed)
    }
    var request = request
    client.hooks.process(&request)
    let ahead = searchAhead(request, client)
    if let ahead {
        let answer = client.loader.submit(ahead) { RequestCallbacks(request, keepsURL: true) }
        if let answer {
            guard let token = answer else { throw destroyedMeanwhile() }
            return token
        }
    }
    let made = try LoadReading(request, client, after: ahead, names: names)
    guard let token = client.loader.submit(made.plan, callbacks: made.callbacks) else {
        throw destroyedMeanwhile()
    }
    made.appData.own()
    return token
}

@_cdecl("sdd_loader_running_count") @implementation
public func sdd_loader_running_count(_ loader: OpaquePointer?) -> Int64 {
    answer(orElse: 0) { () throws(Refusal) in Int64(try Loaders.loader(loader).loader.runningCount) }
}

@_cdecl("sdd_loader_cancel_all") @implementation
public func sdd_loader_cancel_all(_ loader: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in try Loaders.loader(loader).cancelAll() }
}

@_cdecl("sdd_loader_remove_failed_url") @implementation
public func sdd_loader_remove_failed_url(_ loader: OpaquePointer?, _ url: UnsafePointer<CChar>?) -> sdd_status {
    status { () throws(Refusal) in
        let client = try Loaders.loader(loader)
        client.loader.removeFailed(try client.failedKey(url))
    }
}

@_cdecl("sdd_loader_remove_all_failed_urls") @implementation
public func sdd_loader_remove_all_failed_urls(_ loader: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in try Loaders.loader(loader).loader.removeAllFailed() }
}

@_cdecl("sdd_loader_is_blocked") @implementation
public func sdd_loader_is_blocked(_ loader: OpaquePointer?, _ url: UnsafePointer<CChar>?) -> Int32 {
    answer(orElse: 0) { () throws(Refusal) in
        let client = try Loaders.loader(loader)
        return client.loader.isBlocked(try client.failedKey(url)) ? 1 : 0
    }
}
