package import SDDBase

package enum TransferEvent: Sendable {
    /// The header of the final response has arrived. The body or the end follows.
    case response(TransferID, ResponseHead)
    /// More of the body has arrived; sent at most once per turn for each transfer. The number is the total so far.
    case received(TransferID, Int64)
    /// The body so far, after a `.show` command. It follows each `.received`, and is complete before a `.finished` with
    /// a failure.
    case body(TransferID, Bytes)
    /// The end of a transfer, always its last event.
    case finished(TransferID, TransferEnd)
    /// A log message about a transfer, of a level that `TransportConfiguration.logs` requests.
    case message(TransferID, LogLevel, String)
}

package enum LogLevel: Int32, Comparable, Sendable {
    case none = 0
    case error, warning, info, debug

    package static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}
