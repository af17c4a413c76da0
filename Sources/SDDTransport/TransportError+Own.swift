internal import CCurl

/// The failures that libcurl does not know of.
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

    static func cutHeader(host: String) -> TransportError {
        TransportError(.connectionLost, message: "\(host) closed the connection within the header of its answer.")
    }

    static func cutPacking(host: String) -> TransportError {
        TransportError(.truncatedBody, message: "The packed body from \(host) ends before its data does.")
    }

    static func cutRest(host: String) -> TransportError {
        TransportError(.truncatedBody, message: "The rest of the body from \(host) ends before the announced end.")
    }

    static func tooLongRest(of total: Int64) -> TransportError {
        TransportError(.notHTTP, message: "The rest of a body of \(total) bytes goes on behind its end.")
    }

    static func sinkNotWritable(systemError: Int32) -> TransportError {
        TransportError(
            .sinkNotWritable, systemError: systemError,
            message: "The body could not be written to the request's descriptor (system error \(systemError)).")
    }

    static let unknownCoding = TransportError(
        .contentEncoding, message: "The body is packed more than once, or by something else than gzip.")

    static let noMemoryForBody = TransportError(.noResources, message: "There is no memory for the body.")
    static let noMemoryForHeader = TransportError(.noResources, message: "There is no memory for the header.")
    static let noMemoryForCookies = TransportError(.noResources, message: "There is no memory for cookies.")

    static func expired(_ kind: Kind, after milliseconds: Int64, host: String) -> TransportError {
        let limit = "\(milliseconds) ms"
        return switch kind {
        case .connectTimeout: TransportError(kind, message: "There was no connection to \(host) within \(limit).")
        case .firstByteTimeout:
            TransportError(kind, message: "\(host) did not begin to answer within \(limit) of the request.")
        default:
            TransportError(kind, message: "\(host) was silent for \(limit) before the transfer was complete.")
        }
    }

    /// libcurl could not be told what to do, or took no more transfers.
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

    static func redirectMalformed(host: String) -> TransportError {
        TransportError(.redirectMalformed, message: "A redirect from \(host) leads to a URL that is malformed.")
    }
}

// MARK: - The configuration

extension TransportError {
    static func unsupported(_ feature: String) -> TransportError {
        TransportError(.unsupported, message: "libcurl was built without \(feature).")
    }

    static func badConfiguration(_ what: String) -> TransportError {
        TransportError(.badConfiguration, message: "\(what).")
    }

    /// libcurl does not take an option of the configuration.
    static func badConfiguration(_ code: CURLcode) -> TransportError {
        let words = curl_easy_strerror(code).map { String(cString: $0) } ?? ""
        let kind: Kind =
            switch code {
            case CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION: .unsupported
            case CURLE_OUT_OF_MEMORY: .noResources
            default: .badConfiguration
            }
        return TransportError(
            kind, curlCode: Int32(code.rawValue), message: "libcurl does not take the configuration: \(words).")
    }
}
