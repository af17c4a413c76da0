package import SDDTransport

/// One happening of a transfer, or one message, for a host that listens. Immutable.
package final class Notice: Sendable {
    /// SDD_EVENT_ of the header.
    package enum Kind: Int32, Sendable {
        case start = 3
        case response, finish, stop
        case log
        /// It has failed, and will be tried again.
        case retry = 10
    }

    package let kind: Kind
    package let level: LogLevel
    /// 0 for a message about no transfer.
    package let transfer: UInt64
    /// Of the transfer's first request.
    package let token: UInt64
    package let url: String?
    package let time: Int64
    package let httpStatus: Int32
    package let error: Int32
    package let message: String?
    /// Which one of its job's transfers it is, from 1.
    package let attempt: Int32
    /// Of a `.retry`: until then, microseconds.
    package let delay: Int64

    init(
        _ kind: Kind, transfer: UInt64, token: UInt64, url: String?, time: Int64, httpStatus: Int32 = 0,
        error: Int32 = 0, level: LogLevel = .none, message: String? = nil, attempt: Int32 = 0, delay: Int64 = 0
    ) {
        self.kind = kind
        self.level = level
        self.transfer = transfer
        self.token = token
        self.url = url
        self.time = time
        self.httpStatus = httpStatus
        self.error = error
        self.message = message
        self.attempt = attempt
        self.delay = delay
    }
}

/// The host's listener. Thread: where the downloader delivers, with no lock held.
package protocol Observer: AnyObject, Sendable {
    func noticed(_ notice: Notice)
}
