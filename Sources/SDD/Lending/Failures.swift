internal import CSDD
internal import SDDEngine

// Failures in C form.

extension sdd_failure {
    /// - Parameters:
    ///   - error: `nil` for a success.
    ///   - message: the text of the error, which lives as long as the struct.
    init(_ error: DownloadError?, stage: DownloadResult.Stage, httpStatus: Int32, message: UnsafePointer<CChar>?) {
        self.init()
        http_status = httpStatus
        self.message = message ?? emptyString
        guard let error else { return }
        status = error.code.rawValue
        detail = error.detail.rawValue
        error_class = error.errorClass.rawValue
        self.stage = stage.rawValue
        curl_code = error.curlCode
        system_error = error.systemError
        retryable = error.isRetryable ? 1 : 0
    }

    /// The failure of a call that was refused, without a message.
    init(refusing status: sdd_status) {
        self.init()
        self.status = status
        error_class = errorClass(of: status)
        message = emptyString
    }
}

/// Returns the class of a status that no request ends with, or of one without a detail.
private func errorClass(of status: sdd_status) -> sdd_error_class {
    if let code = DownloadError.Code(rawValue: status) { return DownloadError.errorClass(code, .none).rawValue }
    return switch Int(status) {
    case SDD_ERROR_INVALID_ARGUMENT, SDD_ERROR_NOT_FOUND, SDD_ERROR_CLOSED, SDD_ERROR_FORKED, SDD_ERROR_WRONG_DELIVERY,
        SDD_ERROR_BUSY, SDD_ERROR_WOULD_DEADLOCK, SDD_ERROR_BUFFER_TOO_SMALL:
        sdd_error_class(SDD_CLASS_REQUEST)
    case SDD_ERROR_INCOMPLETE: sdd_error_class(SDD_CLASS_IMAGE)
    default: sdd_error_class(SDD_CLASS_NONE)
    }
}
