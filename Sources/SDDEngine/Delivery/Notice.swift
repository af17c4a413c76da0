package import SDDTransport

/// An event of a transfer, or a log message, for the application's listener. Immutable.
package final class Notice: Sendable {
    /// The kind of event; the header's SDD_EVENT_ constants.
    package enum Kind: Int32, Sendable {
        case start = 10
        case response, finish, stop
        /// The transfer has failed, and will be retried.
        case retry
        case log
    }

    package let kind: Kind
    package let level: LogLevel
    /// 0 for a message that is not about a transfer.
    package let transfer: UInt64
    /// The token of the transfer's first request.
    package let token: UInt64
    package let url: String?
    package let time: Int64
    package let httpStatus: Int32
    package let error: DownloadError?
    package let stage: DownloadResult.Stage
    package let message: String?
    /// The number of the transfer among those of its job, from 1.
    package let attempt: Int32
    /// For `.retry`: microseconds until the next attempt.
    package let delay: Int64

    init(
        _ kind: Kind, transfer: UInt64, token: UInt64, url: String?, time: Int64, httpStatus: Int32 = 0,
        error: DownloadError? = nil, stage: DownloadResult.Stage = .none, level: LogLevel = .none,
        message: String? = nil, attempt: Int32 = 0, delay: Int64 = 0
    ) {
        self.kind = kind
        self.level = level
        self.transfer = transfer
        self.token = token
        self.url = url
        self.time = time
        self.httpStatus = httpStatus
        self.error = error
        self.stage = stage
        self.message = message
        self.attempt = attempt
        self.delay = delay
    }
}

/// The application's listener. Called on the delivery thread, with no lock held.
package protocol Observer: AnyObject, Sendable {
    func noticed(_ notice: Notice)
}
