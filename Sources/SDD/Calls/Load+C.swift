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
        out.pointee = Handle.loaders.add(try makeLoader(readOrZeros(config, "config")))
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
    return answer(orElse: 0) { () throws(Refusal) in try submit(request, to: loader, isShort: true) }
}

@_cdecl("sdd_loader_submit") @implementation
public func sdd_loader_submit(
    _ loader: OpaquePointer?, _ request: UnsafePointer<sdd_load_request>?
) -> sdd_token {
    answer(orElse: 0) { () throws(Refusal) in
        try submit(read(request, "request"), to: loader)
    }
}

/// - Parameter isShort: whether the request consists of the arguments of a short call.
private func submit(
    _ request: sdd_load_request, to handle: OpaquePointer?, isShort: Bool = false
) throws(Refusal) -> sdd_token {
    let client = try Loaders.loader(handle)
    guard request.completed != nil || client.downloadClient.downloader.isAppDriven else {
        throw nobodyToTell(isShort ? "completed" : "sdd_load_request.completed")
    }
    Trace.step("read the request")
    var request = request
    client.hooks.process(&request)
    let defaults = client.downloadClient.currentDefaults
    let ahead = request.searchAhead(
        client.caches, hasEvents: client.downloadClient.downloader.isAppDriven, defaults)
    if let ahead,
        let answer = client.loader.submit(ahead.search, callbacks: { RequestCallbacks(request, keepsURL: true) })
    {
        guard let token = answer else { throw destroyedMeanwhile() }
        return token
    }
    let reading = try client.read(request, isShort ? "options" : nil)
    let plan = reading.plan(defaults, after: ahead)
    let callbacks = RequestCallbacks(request, keepsURL: plan.sources[0].request.hasReadableURL(request.url))
    guard let token = client.loader.submit(plan, callbacks: callbacks) else { throw destroyedMeanwhile() }
    reading.appData.own()
    return token
}

// MARK: - Loads that are waited for

@_cdecl("sdd_loader_submit_wait") @implementation
public func sdd_loader_submit_wait(
    _ loader: OpaquePointer?, _ request: UnsafePointer<sdd_load_request>?, _ milliseconds: Int64,
    _ out: UnsafeMutablePointer<UnsafeMutablePointer<sdd_result>?>?
) -> sdd_status {
    out?.pointee = nil
    return status { () throws(Refusal) in
        let client = try Loaders.loader(loader)
        var copy = try read(request, "request")
        try copy.refuseCallbacks()
        if copy.cached != nil { throw callbackOfWait("sdd_load_request.cached") }
        client.hooks.process(&copy)
        var reading = try client.read(copy, for: .loadWait)
        reading.limit(to: milliseconds)
        let callbacks = WaitingCallbacks()
        let plan = reading.plan(client.downloadClient.currentDefaults)
        guard client.loader.submit(plan, callbacks: callbacks, isImmediate: true) != nil else {
            throw destroyedMeanwhile()
        }
        reading.appData.own()
        let result = callbacks.wait()
        // If a refresh ends with an error, the picture is the one that the cache has.
        out?.pointee = OwnedResult.make(result, cached: callbacks.cached, url: copy.url)
        if let error = result.error { throw Refusal(error, of: result) }
    }
}

// MARK: - Loaders

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
