internal import CCurl
internal import Glibc

/// Errors that the library detects itself.
extension TransportError {
    package static func bodyTooLarge(limit: Int64) -> TransportError {
        TransportError(.bodyTooLarge, message: "The body is larger than the limit of \(limit) bytes.")
    }

    static func headerTooLarge(bytes limit: Int64) -> TransportError {
        TransportError(.headersTooLarge, message: "The headers are larger than the limit of \(limit) bytes.")
    }

    static func headerTooLarge(lines limit: Int) -> TransportError {
        TransportError(.headersTooLarge, message: "The headers have more lines than the limit of \(limit).")
    }

    static func unanswered(host: String) -> TransportError {
        TransportError(
            .connectionLost, message: "\(host) closed the connection without an answer, and is not asked again.")
    }

    static func cutHeader(host: String) -> TransportError {
        TransportError(.connectionLost, message: "\(host) closed the connection within the header of its answer.")
    }

    static func cutPacking(host: String) -> TransportError {
        TransportError(.truncatedBody, message: "The packed body from \(host) ends before its data does.")
    }

    static func cutStream(host: String) -> TransportError {
        TransportError(
            .truncatedBody, message: "The HTTP/2 connection to \(host) broke before it had ended the body.")
    }

    static func flood(host: String) -> TransportError {
        TransportError(
            .flood, message: "\(host) floods its connection with frames that carry no data, so it was shut.")
    }

    static func notProcessed(host: String, times: Int) -> TransportError {
        TransportError(
            .notProcessed,
            message: "\(host) refused to process the request, on each of \(times) connections.")
    }

    static func cutPart(host: String) -> TransportError {
        TransportError(.truncatedBody, message: "The part of the body from \(host) ends before the announced end.")
    }

    static func tooLongPart(host: String) -> TransportError {
        TransportError(.notHTTP, message: "The part of the body from \(host) goes on behind the announced end.")
    }

    static func sinkNotWritable(systemError: Int32) -> TransportError {
        TransportError(
            .sinkNotWritable, systemError: systemError,
            message: "The body could not be written to the request's descriptor (system error \(systemError)).")
    }

    static let packedInLayers = TransportError(.contentEncoding, message: "The body is packed more than once.")
    static let unprovenCoding = TransportError(
        .contentEncoding, message: "The body is packed in a way whose end cannot be checked here.")

    /// The error if an application's transport delivers more bytes than it announced.
    static func beyondAnnounced(_ count: Int64) -> TransportError {
        TransportError(.notHTTP, message: "The transport gave more than the \(count) bytes that it had announced.")
    }

    /// The error if an application's transport delivers a body where there must be none.
    static let unexpectedBody = TransportError(
        .notHTTP, message: "The transport gave a body where there is none: of HEAD, or with status 304.")

    /// The error if an application's transport delivers fewer bytes than it announced.
    static func belowAnnounced(_ announced: Int64, came count: Int64) -> TransportError {
        TransportError(
            .truncatedBody, message: "The transport gave \(count) of the \(announced) bytes that it had announced.")
    }

    static func notHTTP(host: String) -> TransportError {
        TransportError(.notHTTP, message: "What \(host) sent is not HTTP.")
    }

    static func badStatus(_ status: Int32, host: String) -> TransportError {
        TransportError(.notHTTP, message: "\(host) answered with the status \(status), which HTTP does not have.")
    }

    static func unaskedPart(host: String) -> TransportError {
        TransportError(.notHTTP, message: "\(host) sent a part of the body, and was asked for the whole.")
    }

    static func otherPart(host: String) -> TransportError {
        TransportError(.notHTTP, message: "\(host) sent another part of the body than it was asked for.")
    }

    static func switchedProtocols(host: String) -> TransportError {
        TransportError(.notHTTP, message: "\(host) went over to another protocol, and was not asked to.")
    }

    static func badHeader(_ fault: HeaderFault, host: String, isRedirect: Bool = false) -> TransportError {
        let what =
            switch fault {
            case .statusLine: "a status line that is not HTTP's"
            case .bareReturn: "a header line with a carriage return in it"
            case .foldBeforeField: "a header that begins with a continued line"
            case .oddFraming: "a length or coding in a form that has more than one meaning"
            case .contentLength: "a Content-Length that is not one number"
            case .transferCoding: "a transfer coding that it was not asked for"
            case .locations: isRedirect ? "a redirect to more than one place" : "a header with more than one Location"
            }
        let kind: Kind = fault == .locations && isRedirect ? .redirectMalformed : .notHTTP
        return TransportError(kind, message: "\(host) sent \(what).")
    }

    static func sinkBlocked(after milliseconds: Int64) -> TransportError {
        TransportError(
            .sinkBlocked, systemError: EAGAIN,
            message: "The request's descriptor is blocked: its reader took no byte of the body for \(milliseconds) ms.")
    }

    static let noMemoryForBody = TransportError(.noResources, message: "There is no memory for the body.")
    static let noMemoryForHeader = TransportError(.noResources, message: "There is no memory for the header.")
    static let noMemoryForCookies = TransportError(.noResources, message: "There is no memory for cookies.")

    static func expired(_ kind: Kind, after milliseconds: Int64, host: String) -> TransportError {
        let limit = "\(milliseconds) ms"
        return switch kind {
        case .connectTimeout: TransportError(kind, message: "There was no connection to \(host) within \(limit).")
        case .firstByteTimeout:
            TransportError(kind, message: "\(host) did not begin to answer within \(limit) of the request.")
        case .tooSlow:
            TransportError(
                kind, message: "The transfer with \(host) was slower than low_speed_limit allows, for \(limit).")
        case .sinkBlocked: .sinkBlocked(after: milliseconds)
        default:
            TransportError(kind, message: "\(host) was silent for \(limit) before the transfer was complete.")
        }
    }

    /// The error if libcurl refused an option or did not accept another transfer.
    static func notStarted(_ code: CURLcode) -> TransportError {
        let words = curl_easy_strerror(code).map { String(cString: $0) } ?? ""
        let isMissing = code == CURLE_NOT_BUILT_IN || code == CURLE_UNKNOWN_OPTION
        return TransportError(
            isMissing ? .unsupported : .noResources, curlCode: Int32(code.rawValue),
            message: "libcurl could not make the transfer: \(words).")
    }
}

// MARK: - Redirects

extension TransportError {
    static func tooManyRedirects(_ limit: Int32, host: String) -> TransportError {
        TransportError(.tooManyRedirects, message: "The redirects did not end after \(limit), the last at \(host).")
    }

    static func redirectScheme(host: String) -> TransportError {
        TransportError(
            .redirectScheme, message: "A redirect from \(host) leads to something else than http or https.")
    }

    static func redirectDowngrade(host: String) -> TransportError {
        TransportError(
            .redirectDowngrade, message: "A redirect from \(host) leads from https to http, and was not followed.")
    }

    static func redirectUnwanted(to url: String, host: String) -> TransportError {
        TransportError(
            .redirectUnwanted,
            message: "\(host) redirects to \(url), and the request is to follow no redirect.")
    }

    static func redirectMalformed(host: String) -> TransportError {
        TransportError(.redirectMalformed, message: "A redirect from \(host) leads to a URL that is malformed.")
    }
}

// MARK: - The configuration

extension TransportError {
    /// - Parameter field: A field of sdd_network_options.
    static func unsupported(_ field: String, _ feature: String) -> TransportError {
        TransportError(
            .unsupported, message: "sdd_network_options.\(field): libcurl was built without \(feature).")
    }

    /// - Parameter field: A field of sdd_network_options.
    static func badConfiguration(_ field: String, _ what: String) -> TransportError {
        TransportError(.badConfiguration, message: "sdd_network_options.\(field): \(what).")
    }

    /// The error if libcurl refuses an option of the configuration.
    static func badConfiguration(_ refusal: EasyHandle.Refusal) -> TransportError {
        let words = curl_easy_strerror(refusal.code).map { String(cString: $0) } ?? ""
        let kind: Kind =
            switch refusal.code {
            case CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION: .unsupported
            case CURLE_OUT_OF_MEMORY: .noResources
            default: .badConfiguration
            }
        let field = field(of: refusal.option)
        return TransportError(
            kind, curlCode: Int32(refusal.code.rawValue),
            message:
                "\(field.map { "sdd_network_options.\($0)" } ?? "The configuration"): libcurl does not take it: \(words)."
        )
    }

    private static func field(of option: CURLoption?) -> String? {
        switch option {
        case CURLOPT_DNS_SERVERS: "dns_servers"
        case CURLOPT_INTERFACE: "network_interface"
        case CURLOPT_PROXY: "proxy"
        case CURLOPT_NOPROXY: "no_proxy"
        case CURLOPT_UNIX_SOCKET_PATH: "unix_socket_path"
        case CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO: "ca_file"
        case CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH: "ca_path"
        default: nil
        }
    }
}
