public import CSDD
internal import SDDBase
internal import SDDEngine

// Blocking loads.

@_cdecl("sdd_loader_submit_wait") @implementation
public func sdd_loader_submit_wait(
    _ loader: OpaquePointer?, _ request: UnsafePointer<sdd_load_request>?, _ milliseconds: Int64,
    _ out: UnsafeMutablePointer<sdd_loaded>?
) -> sdd_status {
    status { () throws(Refusal) in
        if let out {
            // Safety: every sized struct begins with its size_t struct_size. A struct without room for the references
            // that the caller must release is refused.
            try checkSize(
                UnsafeRawPointer(out).loadUnaligned(as: Int.self), of: sdd_loaded.self, minimum: throughResponse)
        }
        let outcome: Outcome
        do throws(Refusal) {
            outcome = try load(request, Loaders.loader(loader), milliseconds)
        } catch {
            if let out { try fill(out, "loaded", with: sdd_loaded(error)) }
            throw error
        }
        if let out { try fill(out, "loaded", with: sdd_loaded(outcome)) }
        if let error = outcome.result.error { throw Refusal(error) }
    }
}

/// The outcome of a load that was accepted.
private struct Outcome {
    let result: DownloadResult
    /// The result found in the cache; used if the refresh of it ended with an error.
    var cached: DownloadResult?
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
    _ request: UnsafePointer<sdd_load_request>?, _ client: LoaderClient, _ milliseconds: Int64
) throws(Refusal) -> Outcome {
    var given = sdd_load_request()
    try read(request, "request", into: &given)
    try refuseCallbacks(given)
    if milliseconds >= 0 { given.total_timeout_ms = max(1, min(milliseconds, longestLimit)) }
    let flaw = optionsFlaw(given)
    if flaw == nil { client.hooks.process(&given) }
    let made = try LoadReading(given, client)
    if let flaw {
        made.appData.own()
        return Outcome(result: DownloadResult(submitting: flaw))
    }
    let callbacks = WaitingCallbacks()
    guard client.loader.submit(made.plan, callbacks: callbacks, isImmediate: true) != nil else {
        throw destroyedMeanwhile()
    }
    made.appData.own()
    let result = callbacks.wait()
    return Outcome(result: result, cached: callbacks.cached)
}

private func optionsFlaw(_ given: sdd_load_request) -> DownloadError? {
    do throws(RequestOptions.Flaw) {
        try RequestOptions(rawValue: given.options).check(for: .loaderGet)
        return nil
    } catch {
        return DownloadError(.invalidOperation, .unknownOptions, "sdd_load_request.options: \(error.words).")
    }
}

extension sdd_loaded {
    fileprivate init(_ refusal: Refusal) {
        self.init()
        error = refusal.status
        error_class = sdd_status_class(refusal.status, 0)
        setMessage(refusal.sentence(of: "sdd_loader_submit_wait"))
    }

    fileprivate init(_ outcome: Outcome) {
        self.init()
        let result = outcome.result
        let shown = result.error == nil ? result : outcome.cached
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
        setMessage(error.message)
    }

    private mutating func setMessage(_ sentence: String) {
        withUnsafeMutableBytes(of: &message) { place in
            writeCut(sentence, to: place.bindMemory(to: CChar.self).baseAddress, capacity: place.count)
        }
    }
}
