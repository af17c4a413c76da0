public import CSDD
internal import SDDEngine

/// The name and the message of a status.
struct StatusText {
    let name: StaticString
    let message: StaticString

    init(_ name: StaticString, _ message: StaticString) {
        self.name = name
        self.message = message
    }

    init(_ status: sdd_status) {
        self =
            switch Int(status) {
            case SDD_OK: StatusText("SDD_OK", "Success.")
            case SDD_ERROR_INVALID_URL:
                StatusText(
                    "SDD_ERROR_INVALID_URL", "The URL is missing, malformed, too long, or of a scheme not allowed.")
            case SDD_ERROR_BAD_IMAGE_DATA:
                StatusText(
                    "SDD_ERROR_BAD_IMAGE_DATA", "The body is no picture, or one that is damaged, cut, or too large.")
            case SDD_ERROR_NOT_MODIFIED:
                StatusText("SDD_ERROR_NOT_MODIFIED", "Nothing has changed: what the caller or the cache has is right.")
            case SDD_ERROR_BLOCKED:
                StatusText("SDD_ERROR_BLOCKED", "The URL has failed lately, and is not tried again yet.")
            case SDD_ERROR_NOT_CACHED:
                StatusText("SDD_ERROR_NOT_CACHED", "No cache has it, and the network was not to be asked.")
            case SDD_ERROR_INVALID_DOWNLOAD_OPERATION:
                StatusText("SDD_ERROR_INVALID_DOWNLOAD_OPERATION", "The request could not be made as it was given.")
            case SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE:
                StatusText(
                    "SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE", "The server's HTTP status is not among the accepted ones."
                )
            case SDD_ERROR_CANCELLED:
                StatusText("SDD_ERROR_CANCELLED", "The request was cancelled.")
            case SDD_ERROR_INVALID_DOWNLOAD_RESPONSE:
                StatusText("SDD_ERROR_INVALID_DOWNLOAD_RESPONSE", "The response modifier refused the response.")
            case SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE:
                StatusText(
                    "SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE",
                    "The response's media type is not among the accepted ones.")
            case SDD_ERROR_TRANSPORT:
                StatusText("SDD_ERROR_TRANSPORT", "The transfer failed.")
            case SDD_ERROR_RESOLVE:
                StatusText("SDD_ERROR_RESOLVE", "The host's name has no address.")
            case SDD_ERROR_CONNECT:
                StatusText("SDD_ERROR_CONNECT", "There is no connection to the host.")
            case SDD_ERROR_TLS:
                StatusText("SDD_ERROR_TLS", "The TLS handshake failed, or the certificate is not trusted.")
            case SDD_ERROR_TIMEOUT:
                StatusText("SDD_ERROR_TIMEOUT", "A time limit is over.")
            case SDD_ERROR_CONNECTION_LOST:
                StatusText("SDD_ERROR_CONNECTION_LOST", "The connection broke.")
            case SDD_ERROR_TOO_MANY_REDIRECTS:
                StatusText("SDD_ERROR_TOO_MANY_REDIRECTS", "The server redirects more often than allowed.")
            case SDD_ERROR_PROTOCOL:
                StatusText("SDD_ERROR_PROTOCOL", "What the server sent is not HTTP.")
            case SDD_ERROR_BODY_TOO_LARGE:
                StatusText("SDD_ERROR_BODY_TOO_LARGE", "The body is larger than allowed.")
            case SDD_ERROR_TRUNCATED_BODY:
                StatusText("SDD_ERROR_TRUNCATED_BODY", "The body ended before its announced end.")
            case SDD_ERROR_REDIRECT_REFUSED:
                StatusText("SDD_ERROR_REDIRECT_REFUSED", "The server redirects to where this request may not go.")
            case SDD_ERROR_CONTENT_ENCODING:
                StatusText(
                    "SDD_ERROR_CONTENT_ENCODING", "The body's compression is damaged, or one that was not asked for.")
            case SDD_ERROR_FILE_NOT_READABLE:
                StatusText("SDD_ERROR_FILE_NOT_READABLE", "The file does not exist or may not be read.")
            case SDD_ERROR_ADDRESS_REFUSED:
                StatusText("SDD_ERROR_ADDRESS_REFUSED", "The address to connect to is not allowed.")
            case SDD_ERROR_HEADERS_TOO_LARGE:
                StatusText("SDD_ERROR_HEADERS_TOO_LARGE", "The response's header is larger than allowed.")
            case SDD_ERROR_PROXY:
                StatusText("SDD_ERROR_PROXY", "The proxy refused to help.")
            case SDD_ERROR_SINK:
                StatusText("SDD_ERROR_SINK", "The body could not be written to the request's descriptor.")
            case SDD_ERROR_INVALID_ARGUMENT:
                StatusText("SDD_ERROR_INVALID_ARGUMENT", "An argument is NULL, out of range, or not of the right form.")
            case SDD_ERROR_UNSUPPORTED:
                StatusText(
                    "SDD_ERROR_UNSUPPORTED",
                    "A struct or flag of a newer header, or a feature that libcurl was built without.")
            case SDD_ERROR_NOT_FOUND:
                StatusText("SDD_ERROR_NOT_FOUND", "There is no such request, or it has ended, or no such header.")
            case SDD_ERROR_CLOSED:
                StatusText("SDD_ERROR_CLOSED", "The downloader was destroyed.")
            case SDD_ERROR_FORKED:
                StatusText("SDD_ERROR_FORKED", "The handle belongs to the parent of this process; make a new one.")
            case SDD_ERROR_WRONG_DELIVERY:
                StatusText("SDD_ERROR_WRONG_DELIVERY", "The call is for a downloader with SDD_DELIVERY_APPLICATION.")
            case SDD_ERROR_BUSY:
                StatusText("SDD_ERROR_BUSY", "Another thread is taking this downloader's events.")
            case SDD_ERROR_WOULD_DEADLOCK:
                StatusText("SDD_ERROR_WOULD_DEADLOCK", "A callback of this downloader cannot wait for itself.")
            case SDD_ERROR_NO_RESOURCES:
                StatusText("SDD_ERROR_NO_RESOURCES", "The system gave no thread, descriptor or memory.")
            case SDD_ERROR_BUFFER_TOO_SMALL:
                StatusText("SDD_ERROR_BUFFER_TOO_SMALL", "The buffer is too small for the answer.")
            case SDD_ERROR_INCOMPLETE:
                StatusText("SDD_ERROR_INCOMPLETE", "The bytes end before what was asked for; give more of them.")
            case SDD_ERROR_DOES_NOT_FIT:
                StatusText("SDD_ERROR_DOES_NOT_FIT", "The picture does not fit into the size or the part asked for.")
            case SDD_ERROR_CACHE:
                StatusText("SDD_ERROR_CACHE", "The cache's directory or file cannot be used as it was asked to.")
            default: StatusText("SDD_ERROR_UNKNOWN", "There is no status of this number.")
            }
    }
}

@_cdecl("sdd_status_name") @implementation
public func sdd_status_name(_ status: sdd_status) -> UnsafePointer<CChar>? {
    staticText(StatusText(status).name)
}

@_cdecl("sdd_status_message") @implementation
public func sdd_status_message(_ status: sdd_status) -> UnsafePointer<CChar>? {
    staticText(StatusText(status).message)
}
