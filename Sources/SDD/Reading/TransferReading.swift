internal import CSDD
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

// Reading an sdd_transfer_options.

/// An sdd_transfer_options as the application gave it, with the modifiers in it. What is wrong with the struct or its
/// modifiers refuses the call; what is wrong with a field is the error of a request.
final class GivenTransfer {
    private let options: sdd_transfer_options
    private let modifiers: AppModifiers?

    /// Reads the struct; `nil` without one, which leaves everything to the downloader.
    static func given(
        _ source: UnsafePointer<sdd_transfer_options>?, _ place: Place
    ) throws(Refusal) -> GivenTransfer? {
        guard let source else { return nil }
        return try GivenTransfer(source, place)
    }

    private init(_ source: UnsafePointer<sdd_transfer_options>, _ place: Place) throws(Refusal) {
        options = try read(source, place)
        modifiers = try AppModifiers.make(options.modifiers, "sdd_transfer_options.modifiers")
    }

    /// The data of the application's functions. Once the call is accepted, the library owns it.
    var appData: [AppData] { modifiers.map { [$0.data] } ?? [] }

    func spec() throws(DownloadError) -> TransferSpec {
        var made = TransferSpec.Values()
        made.modifiers = modifiers
        try readHeaders(options, to: &made)
        try readResponse(options, to: &made)
        try readLimits(options, to: &made)
        do throws(Refusal) {
            switch try credential(options.credential, "sdd_transfer_options.credential") {
            case .unsaid: break
            case .none: made.credential = .own(nil)
            case .some(let own): made.credential = .own(own)
            }
            made.caFile = try path(options.ca_file, "sdd_transfer_options.ca_file")
        } catch {
            throw wrong(.badCredential, error)
        }
        return TransferSpec(made)
    }

    /// Returns the spec for a call that returns errors itself, and does not make requests that end with them.
    func checkedSpec() throws(Refusal) -> TransferSpec? {
        do throws(DownloadError) {
            return try spec()
        } catch {
            throw Refusal(SDD_ERROR_INVALID_ARGUMENT, whole: error.message)
        }
    }
}

/// Returns the error of a request that cannot be made, with the message of the refusal.
func wrong(_ detail: DownloadError.Detail, _ refusal: Refusal) -> DownloadError {
    DownloadError(.invalidOperation, detail, refusal.sentence)
}

func wrong(_ detail: DownloadError.Detail, _ place: Place, _ reason: String) -> DownloadError {
    wrong(detail, Refusal(SDD_ERROR_INVALID_DOWNLOAD_OPERATION, place, reason))
}

private func readHeaders(
    _ given: sdd_transfer_options, to made: inout TransferSpec.Values
) throws(DownloadError) {
    if given.referrer != nil {
        guard let referrer = headerValue(given.referrer) else {
            throw wrong(.badHeader, noFieldValue("sdd_transfer_options.referrer"))
        }
        made.headers.append(("Referer", referrer))
    }
    // A size_t beyond Int's range arrives as a negative number, which is refused below.
    guard given.header_count != 0 else { return }
    guard let headers = given.headers else { throw wrong(.badHeader, .null("sdd_transfer_options.headers")) }
    guard (1...1000).contains(given.header_count) else {
        let count = UInt(bitPattern: given.header_count)
        throw wrong(.badHeader, .number("sdd_transfer_options.header_count", count, allowed: "0 to 1000"))
    }
    // Safety: the library's header requires `header_count` elements.
    for (index, header) in UnsafeBufferPointer(start: headers, count: given.header_count).enumerated() {
        do throws(Refusal) {
            let place = Place("sdd_transfer_options.headers")[index]
            let field = try headerField(header.name, header.value, place.field("name"), place.field("value"))
            // A Referer of the header fields takes the place of `referrer`.
            if given.referrer != nil, HTTPFields.isSameName(field.name, "Referer"),
                made.headers.first?.name == "Referer"
            {
                made.headers.removeFirst()
            }
            made.headers.append(field)
        } catch {
            throw wrong(.badHeader, error)
        }
    }
}

private func readResponse(
    _ given: sdd_transfer_options, to made: inout TransferSpec.Values
) throws(DownloadError) {
    if given.accepted_status_codes != nil || given.accepted_content_types != nil {
        do throws(Refusal) {
            made.acceptance = try readAcceptance(
                statuses: given.accepted_status_codes, "sdd_transfer_options.accepted_status_codes",
                types: given.accepted_content_types, "sdd_transfer_options.accepted_content_types",
                standard: .standard)
        } catch {
            throw wrong(.badAccept, error)
        }
        made.leavesStatuses = given.accepted_status_codes == nil
        made.leavesTypes = given.accepted_content_types == nil
    }
    switch Int(given.redirects) {
    case SDD_REDIRECT_FOLLOW: made.redirects = .follow
    case SDD_REDIRECT_HAND_OUT: made.redirects = .handOut
    case SDD_REDIRECT_REFUSE: made.redirects = .refuse
    default:
        throw wrong(
            .badNumber, .number("sdd_transfer_options.redirects", given.redirects, allowed: "one of SDD_REDIRECT_"))
    }
    made.maxRedirects = try count(given.max_redirects, "sdd_transfer_options.max_redirects", most: mostRedirects)
    made.maxAttempts = try count(given.max_attempts, "sdd_transfer_options.max_attempts", most: mostAttempts)
    made.maxBodyBytes = try count(given.max_body_bytes, "sdd_transfer_options.max_body_bytes", most: largestBody)
}

private func readLimits(_ given: sdd_transfer_options, to made: inout TransferSpec.Values) throws(DownloadError) {
    made.queueLimit = try limit(given.queue_timeout_ms, "sdd_transfer_options.queue_timeout_ms")
    made.connectLimit = try limit(given.connect_timeout_ms, "sdd_transfer_options.connect_timeout_ms")
    made.firstByteLimit = try limit(given.first_byte_timeout_ms, "sdd_transfer_options.first_byte_timeout_ms")
    made.stallLimit = try limit(given.download_timeout_ms, "sdd_transfer_options.download_timeout_ms")
    made.totalLimit = try limit(given.total_timeout_ms, "sdd_transfer_options.total_timeout_ms")
    made.slownessLimit = try limit(given.low_speed_time_ms, "sdd_transfer_options.low_speed_time_ms")
    let speed = try count(given.low_speed_limit, "sdd_transfer_options.low_speed_limit", most: longestLimit)
    made.leastBytesPerSecond = speed == 0 ? nil : speed
}

/// Reads a time limit in milliseconds: 0 leaves it to the downloader and is returned as `nil`; SDD_NO_LIMIT is returned
/// as 0.
private func limit(_ milliseconds: Int64, _ place: Place) throws(DownloadError) -> Int64? {
    switch milliseconds {
    case 0: return nil
    case Int64(SDD_NO_LIMIT): return 0
    case 1...longestLimit: return milliseconds
    default:
        throw wrong(
            .badNumber,
            .number(place, milliseconds, allowed: "0, SDD_NO_LIMIT, or 1 to \(longestLimit), some 34 years"))
    }
}

/// Reads a number whose 0 leaves it to the downloader.
private func count<Number: FixedWidthInteger>(
    _ given: Number, _ place: Place, most: Number
) throws(DownloadError) -> Number {
    guard (0...most).contains(given) else { throw wrong(.badNumber, .number(place, given, allowed: "0 to \(most)")) }
    return given
}
