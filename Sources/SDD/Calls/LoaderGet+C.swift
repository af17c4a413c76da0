public import CSDD
internal import SDDBase
internal import SDDEngine

// Blocking loads.

@_cdecl("sdd_loader_get") @implementation
public func sdd_loader_get(
    _ loader: OpaquePointer?, _ request: UnsafePointer<sdd_load_request>?, _ milliseconds: Int64,
    _ out: UnsafeMutablePointer<sdd_loaded>?
) -> sdd_status {
    status { () throws(Refusal) in
        if let out {
            // Safety: every sized struct begins with its size_t struct_size. A struct without room for the references
            // that the caller must release is refused.
            try checkSize(
                UnsafeRawPointer(out).loadUnaligned(as: Int.self), of: sdd_loaded.self, minimum: throughResponse)
            try fill(out, "loaded", with: sdd_loaded())
        }
        var given = sdd_load_request()
        try read(request, "request", into: &given)
        try refuseCallbacks(given)
        let client = try Loaders.loader(loader)
        if milliseconds >= 0 { given.total_timeout_ms = max(1, min(milliseconds, longestLimit)) }
        let (result, cached) = try load(given, client)
        if let out { try fill(out, "loaded", with: sdd_loaded(result, cached: cached)) }
        if let error = result.error { throw Refusal(error) }
    }
}

private let throughResponse =
    (MemoryLayout<sdd_loaded>.offset(of: \sdd_loaded.response) ?? 0) + MemoryLayout<OpaquePointer?>.size

private func refuseCallbacks(_ given: sdd_load_request) throws(Refusal) {
    func refuse(_ isSet: Bool, _ place: Place) throws(Refusal) {
        if isSet {
            throw Refusal(SDD_ERROR_INVALID_ARGUMENT, place, "it must be NULL: the call waits, and makes no callbacks")
        }
    }
    try refuse(given.progress != nil, "sdd_load_request.progress")
    try refuse(given.completed != nil, "sdd_load_request.completed")
    try refuse(given.preview != nil, "sdd_load_request.preview")
    try refuse(given.facts != nil, "sdd_load_request.facts")
    try refuse(given.cached != nil, "sdd_load_request.cached")
    try refuse(given.user_data_free != nil, "sdd_load_request.user_data_free")
}

private func load(
    _ given: sdd_load_request, _ client: LoaderClient
) throws(Refusal) -> (DownloadResult, cached: DownloadResult?) {
    do throws(RequestOptions.Flaw) {
        try RequestOptions(rawValue: given.options).check(for: .loaderGet)
    } catch {
        return (
            DownloadResult(
                submitting: DownloadError(
                    .invalidOperation, .unknownOptions, "sdd_load_request.options: \(error.words).")),
            nil
        )
    }
    var request = given
    client.hooks.process(&request)
    let made = try LoadReading(request, client)
    let callbacks = WaitingCallbacks()
    guard client.loader.submit(made.plan, callbacks: callbacks, isImmediate: true) != nil else {
        throw destroyedMeanwhile()
    }
    made.modifiers?.data.own()
    let result = callbacks.wait()
    return (result, callbacks.cached)
}

extension sdd_loaded {
    /// - Parameter cached: the result found in the cache; used if the refresh of it ended with an error.
    fileprivate init(_ result: DownloadResult, cached: DownloadResult?) {
        self.init()
        let shown = result.error == nil ? result : cached
        error = result.error?.code.rawValue ?? sdd_status(SDD_OK)
        detail = result.error?.detail.rawValue ?? 0
        http_status = result.httpStatus
        origin = (shown ?? result).origin.rawValue
        transformed = shown?.isTransformed == true ? 1 : 0
        image = Handle.retained(shown?.image)
        bytes = Handle.retained(shown?.bytes)
        response = Handle.retained(result.response)
        guard let error = result.error else { return }
        error_class = error.errorClass.rawValue
        stage = result.stage.rawValue
        retryable = error.isRetryable ? 1 : 0
        curl_code = error.curlCode
        system_error = error.systemError
        withUnsafeMutableBytes(of: &message) { place in
            writeCut(error.message, to: place.bindMemory(to: CChar.self).baseAddress, capacity: place.count)
        }
    }
}
