internal import CSDD
internal import Glibc
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

// Reading an sdd_download_request.

/// Converts a caller's request, after running its modifier, or returns the error that the request will end with.
func makeRequest(
    _ request: sdd_download_request, _ defaults: RequestDefaults, _ modifiers: AppModifiers?,
    for purpose: RequestPurpose
) -> Result<DownloadRequest, DownloadError> {
    do throws(RequestOptions.Flaw) {
        try RequestOptions(rawValue: request.options).check(for: purpose.use)
    } catch {
        return .failure(
            DownloadError(.invalidOperation, .unknownOptions, "\(purpose.names.options.text): \(error.words)."))
    }
    guard request.max_body_bytes > 0 else { return made(request, defaults, modifiers, purpose) }
    var own = defaults
    own.maxBodyBytes = min(request.max_body_bytes, largestBody)
    return made(request, own, modifiers, purpose)
}

/// The purpose that a request is read for.
struct RequestPurpose {
    /// The kind of call, which decides the options that are allowed.
    var use = RequestOptions.Use.download
    /// The load that this is a request of; `nil` for none.
    var load: RequestOfLoad?
    /// False if previews would reach neither a callback nor an event.
    var showsPreviews = false
    /// The names of the fields in the struct or arguments that the application filled in.
    var names = RequestNames.download
}

private func made(
    _ request: sdd_download_request, _ defaults: RequestDefaults, _ modifiers: AppModifiers?, _ purpose: RequestPurpose
) -> Result<DownloadRequest, DownloadError> {
    do throws(DownloadError) {
        let url = try defaults.url(request.url)
        let made = try parts(request, url, defaults, modifiers)
        try finish(made, request, defaults, modifiers, purpose)
        return .success(DownloadRequest(made))
    } catch {
        return .failure(error)
    }
}

/// Returns the parts of a request that its transfer and the option bits determine.
private func parts(
    _ request: sdd_download_request, _ url: ImageURL, _ defaults: RequestDefaults, _ modifiers: AppModifiers?
) throws(DownloadError) -> DownloadRequest.Parts {
    let options = RequestOptions(rawValue: request.options)
    let isSimple =
        request.method == nil && request.referrer == nil && request.range == nil && request.header_count == 0
        && request.body_size == 0 && modifiers == nil && !defaults.changesRequests
    if isSimple {
        return try defaults.parts(url: url, options, transfer: try transferOptions(request, options, defaults))
    }
    let method = try method(request.method)
    var draft = RequestDraft(
        url: url, method: method, headers: try headers(request, over: defaults.headers),
        body: try body(request, method: method))
    try defaults.modify(&draft, modifiers)
    return try defaults.parts(draft, options, transfer: try transferOptions(request, options, defaults))
}

/// The names of request fields in messages: a load has some of them in its own struct, and the short calls have
/// arguments instead.
enum RequestNames {
    case arguments, download, load

    var options: Place {
        switch self {
        case .arguments: "options"
        case .download: "sdd_download_request.options"
        case .load: "sdd_load_request.options"
        }
    }

    var completed: Place {
        switch self {
        case .arguments: "completed"
        case .download: "sdd_download_request.completed"
        case .load: "sdd_load_request.completed"
        }
    }

    var priority: Place { self == .load ? "sdd_load_request.priority" : "sdd_download_request.priority" }
    var decode: Place { self == .load ? "sdd_load_request.decode" : "sdd_download_request.decode" }
}

/// Returns the error of a request that cannot be made, with the message of the refusal.
private func wrong(_ detail: DownloadError.Detail, _ refusal: Refusal) -> DownloadError {
    DownloadError(.invalidOperation, detail, refusal.sentence)
}

private func wrong(_ detail: DownloadError.Detail, _ place: Place, _ reason: String) -> DownloadError {
    wrong(detail, Refusal(SDD_ERROR_INVALID_DOWNLOAD_OPERATION, place, reason))
}

private func finish(
    _ made: DownloadRequest.Parts, _ request: sdd_download_request, _ defaults: RequestDefaults,
    _ modifiers: AppModifiers?, _ purpose: RequestPurpose
) throws(DownloadError) {
    let options = RequestOptions(rawValue: request.options)
    if let priority = try priority(request, purpose.names) { made.priority = priority }
    if request.decode != nil || !made.form.isPossible {
        made.form = try form(request, options, defaults, purpose.names)
    }
    if request.progress != nil { made.wantsProgress = true }
    if request.facts != nil { made.wantsFacts = true }
    try readLimits(request, to: made)
    if let own = try acceptance(request, defaults) { made.acceptance = own }
    if let modifiers { made.bodyWork = AppModifiers.bodyWork(modifiers, over: defaults.appModifiers) }
    if let check = try bodyCheck(request) { made.bodyWork = .checking(check, before: made.bodyWork) }
    if request.sink != 0 { try addSink(request, to: made) }
    if !purpose.showsPreviews { made.wantsPreviews = false }
    purpose.load?.adapt(made)
    try made.complete(options, defaults, isLoad: purpose.load != nil)
}

// MARK: - Parts of a request

/// Returns the priority of a request; `nil` leaves it to the option bits.
private func priority(_ request: sdd_download_request, _ names: RequestNames) throws(DownloadError) -> Priority? {
    if request.priority == 0 { return nil }
    guard let priority = Priority(rawValue: request.priority) else {
        throw wrong(.badNumber, .number(names.priority, request.priority, allowed: "0 or one of SDD_PRIORITY_"))
    }
    return priority
}

/// Reads the limits of the request as a whole. The parts have the downloader's already.
private func readLimits(
    _ request: sdd_download_request, to made: DownloadRequest.Parts
) throws(DownloadError) {
    made.queueLimit = try microseconds(
        request.queue_timeout_ms, "sdd_download_request.queue_timeout_ms", default: made.queueLimit)
    made.totalLimit = try microseconds(
        request.total_timeout_ms, "sdd_download_request.total_timeout_ms", default: made.totalLimit)
    made.maxAttempts = try attempts(request.max_attempts)
}

/// Reads a time limit in milliseconds.
/// - Parameter standard: the default in microseconds.
private func microseconds(
    _ milliseconds: Int64, _ place: Place, default standard: Int64
) throws(DownloadError) -> Int64 {
    milliseconds == 0 ? standard : try limit(milliseconds, place, default: 0) * 1000
}

/// Reads a time limit: 0 means the downloader's default; SDD_NO_LIMIT means none and is returned as 0.
private func limit(
    _ milliseconds: Int64, _ place: Place, default standard: Int64
) throws(DownloadError) -> Int64 {
    switch milliseconds {
    case 0: return standard
    case -1: return 0
    case 1...longestLimit: return milliseconds
    default:
        throw wrong(
            .badNumber,
            .number(place, milliseconds, allowed: "0, SDD_NO_LIMIT, or 1 to \(longestLimit), some 34 years"))
    }
}

/// Reads a speed in bytes per second; 0 means the downloader's default.
private func speed(_ bytes: Int64, default standard: Int64) throws(DownloadError) -> Int64 {
    guard (0...longestLimit).contains(bytes) else {
        throw wrong(
            .badNumber, .number("sdd_download_request.low_speed_limit", bytes, allowed: "0 to \(longestLimit)"))
    }
    return bytes == 0 ? standard : bytes
}

/// Checks a number of attempts; 0 means the downloader's default.
private func attempts(_ count: Int32) throws(DownloadError) -> Int32 {
    guard (0...mostAttempts).contains(count) else {
        throw wrong(.badNumber, .number("sdd_download_request.max_attempts", count, allowed: "0 to \(mostAttempts)"))
    }
    return count
}

private func transferOptions(
    _ request: sdd_download_request, _ options: RequestOptions, _ defaults: RequestDefaults
) throws(DownloadError) -> TransferOptions {
    let isOrdinary =
        options.isDisjoint(with: .ofTransfer)
        && request.credential == nil && request.connect_timeout_ms == 0 && request.first_byte_timeout_ms == 0
        && request.download_timeout_ms == 0 && request.low_speed_limit == 0 && request.low_speed_time_ms == 0
        && isOrdinaryAnswer(request)
    if isOrdinary { return defaults.options }
    var values = defaults.options.values
    values.apply(options, cookies: defaults.cookies)
    try readClocks(request, &values.clocks)
    do throws(Refusal) {
        let own = try credential(request.credential, "sdd_download_request.credential")
        if case .unsaid = own {} else { values.credential = own.credential }
    } catch {
        throw wrong(.badCredential, error)
    }
    if !isOrdinaryAnswer(request) { try addAnswer(request, to: &values) }
    return TransferOptions(values)
}

/// Whether a request has default settings for redirects, the body and the CA file.
private func isOrdinaryAnswer(_ request: sdd_download_request) -> Bool {
    request.redirects == 0 && request.max_redirects == 0 && request.max_body_bytes == 0 && request.ca_file == nil
}

private func addAnswer(
    _ request: sdd_download_request, to values: inout TransferOptions.Values
) throws(DownloadError) {
    switch Int(request.redirects) {
    case SDD_REDIRECT_FOLLOW: values.redirects = .follow
    case SDD_REDIRECT_HAND_OUT: values.redirects = .handOut
    case SDD_REDIRECT_REFUSE: values.redirects = .refuse
    default:
        throw wrong(
            .badNumber,
            .number("sdd_download_request.redirects", request.redirects, allowed: "one of SDD_REDIRECT_"))
    }
    guard (0...mostRedirects).contains(request.max_redirects) else {
        throw wrong(
            .badNumber,
            .number("sdd_download_request.max_redirects", request.max_redirects, allowed: "0 to \(mostRedirects)"))
    }
    guard (0...largestBody).contains(request.max_body_bytes) else {
        throw wrong(
            .badNumber,
            .number("sdd_download_request.max_body_bytes", request.max_body_bytes, allowed: "0 to \(largestBody)"))
    }
    values.maxRedirects = request.max_redirects
    values.maxBodyBytes = request.max_body_bytes
    do throws(Refusal) {
        if let file = try path(request.ca_file, "sdd_download_request.ca_file") { values.caFile = file }
    } catch {
        throw wrong(.badCredential, error)
    }
}

private func readClocks(_ request: sdd_download_request, _ clocks: inout TransferClocks) throws(DownloadError) {
    clocks.connect = try limit(
        request.connect_timeout_ms, "sdd_download_request.connect_timeout_ms", default: clocks.connect)
    clocks.firstByte = try limit(
        request.first_byte_timeout_ms, "sdd_download_request.first_byte_timeout_ms", default: clocks.firstByte)
    clocks.stall = try limit(
        request.download_timeout_ms, "sdd_download_request.download_timeout_ms", default: clocks.stall)
    clocks.slowness = try limit(
        request.low_speed_time_ms, "sdd_download_request.low_speed_time_ms", default: clocks.slowness)
    clocks.leastBytesPerSecond = try speed(request.low_speed_limit, default: clocks.leastBytesPerSecond)
}

private func form(
    _ request: sdd_download_request, _ options: RequestOptions, _ defaults: RequestDefaults, _ names: RequestNames
) throws(DownloadError) -> DecodeOptions {
    do throws(Refusal) {
        return try pixelForm(request.decode, names.decode, options: options, standard: defaults.form)
    } catch {
        throw wrong(.badDecode, error)
    }
}

private func addSink(_ request: sdd_download_request, to made: DownloadRequest.Parts) throws(DownloadError) {
    let acceptance = made.acceptance
    guard [SDD_SINK_FD, SDD_SINK_DISCARD].contains(Int(request.sink)) else {
        throw wrong(.badSink, .number("sdd_download_request.sink", request.sink, allowed: "0 or one of SDD_SINK_"))
    }
    guard made.bodyWork == nil else {
        throw wrong(
            .badSink, "sdd_download_request.sink",
            "it must be 0 where a response modifier, a body transform, integrity or expected_bytes wait for the body")
    }
    do throws(SystemError) {
        made.transfer.sink = try BodySink(
            descriptor: Int(request.sink) == SDD_SINK_FD ? request.sink_fd : nil, accepts: { acceptance.takes($0) })
    } catch {
        guard [EMFILE, ENFILE, ENOMEM].contains(error.errno) else {
            throw wrong(
                .badSink, .number("sdd_download_request.sink_fd", request.sink_fd, allowed: "an open descriptor"))
        }
        throw wrong(.noTransfer, "sdd_download_request.sink_fd", "the process has no descriptor left for a copy of it")
    }
    made.wantsPixels = false
}

/// Returns the acceptance of a request; `nil` leaves it to the downloader.
private func acceptance(_ request: sdd_download_request, _ defaults: RequestDefaults) throws(DownloadError)
    -> Acceptance?
{
    if request.accepted_status_codes == nil && request.accepted_content_types == nil { return nil }
    do throws(Refusal) {
        return try readAcceptance(
            statuses: request.accepted_status_codes, "sdd_download_request.accepted_status_codes",
            types: request.accepted_content_types, "sdd_download_request.accepted_content_types",
            standard: defaults.acceptance)
    } catch {
        throw wrong(.badAccept, error)
    }
}

private func method(_ string: UnsafePointer<CChar>?) throws(DownloadError) -> String {
    guard let string else { return "GET" }
    guard let method = headerName(string) else {
        throw wrong(.badMethod, noToken(string, "sdd_download_request.method"))
    }
    return method
}

private func headers(_ request: sdd_download_request, over defaults: HTTPFields) throws(DownloadError) -> HTTPFields {
    var fields = defaults
    if request.referrer != nil {
        guard let referrer = headerValue(request.referrer) else {
            throw wrong(.badHeader, noFieldValue("sdd_download_request.referrer"))
        }
        fields.set("Referer", to: referrer)
    }
    if request.range != nil {
        guard let range = headerValue(request.range), isRange(range) else {
            throw wrong(
                .badRange, "sdd_download_request.range",
                "\(shown(request.range)) is not of the form \"first-last\", \"first-\" or \"-count\"")
        }
        fields.set("Range", to: "bytes=" + range)
    }
    try add(request, to: &fields)
    return fields
}

private func add(_ request: sdd_download_request, to fields: inout HTTPFields) throws(DownloadError) {
    // A size_t beyond Int's range arrives as a negative number, which is refused below.
    guard request.header_count != 0 else { return }
    guard let headers = request.headers else { throw wrong(.badHeader, .null("sdd_download_request.headers")) }
    guard (1...1000).contains(request.header_count) else {
        let count = UInt(bitPattern: request.header_count)
        throw wrong(.badHeader, .number("sdd_download_request.header_count", count, allowed: "0 to 1000"))
    }
    var names: [String] = []
    // Safety: the library's header requires `header_count` elements.
    for (index, header) in UnsafeBufferPointer(start: headers, count: request.header_count).enumerated() {
        do throws(Refusal) {
            let place = Place("sdd_download_request.headers")[index]
            let (name, value) = try headerField(header.name, header.value, place.field("name"), place.field("value"))
            if !names.contains(where: { HTTPFields.isSameName($0, name) }) {
                fields.set(name, to: value)
                names.append(name)
            } else if let value {
                fields.append(name, value)
            }
        } catch {
            throw wrong(.badHeader, error)
        }
    }
}

/// Whether a text is a byte range, RFC 9110 §14.1.2: "first-last", "first-" or "-count".
private func isRange(_ text: String) -> Bool {
    let ends = text.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, !ends.allSatisfy({ $0.isEmpty }) else { return false }
    let numbers = ends.map { $0.isEmpty ? 0 : number($0) ?? -1 }
    if numbers.contains(-1) { return false }
    return ends[0].isEmpty || ends[1].isEmpty || numbers[0] <= numbers[1]
}

/// Parses decimal digits; `nil` for any other character, or if the number is too large.
private func number(_ text: Substring) -> Int64? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
}

private func body(_ request: sdd_download_request, method: String) throws(DownloadError) -> Bytes? {
    guard request.body_size != 0 else { return nil }
    guard let body = request.body else {
        throw wrong(.badBody, "sdd_download_request.body", "NULL is allowed with a body_size of 0 alone")
    }
    guard request.body_size > 0 else {
        let size = UInt(bitPattern: request.body_size)
        throw wrong(.badBody, .number("sdd_download_request.body_size", size, allowed: "a size that memory can have"))
    }
    guard method != "GET", method != "HEAD" else {
        throw wrong(.badBody, "sdd_download_request.body", "a request with the method \(method) has no body")
    }
    guard let copy = Bytes(copying: UnsafeRawBufferPointer(start: body, count: request.body_size)) else {
        throw wrong(.badBody, .noMemory("sdd_download_request.body"))
    }
    return copy
}
