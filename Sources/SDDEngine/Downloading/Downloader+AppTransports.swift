package import SDDBase
package import SDDTransport

/// Reports from a transport of the application. Callable from any thread.
extension Downloader {
    /// - Returns: False if the response has ended the transfer, since it is a part that was not asked for.
    package func appResponded(
        _ id: UInt64, status: Int32, fields: ResponseFields, expectedBytes: Int64
    ) throws(AppTransfers.Refusal) -> Bool {
        let reports = try appTransfers.responded(
            TransferID(id), status: status, fields: fields, expectedBytes: expectedBytes)
        answered(reports)
        if case .finished? = reports.last { return false }
        return true
    }

    /// - Returns: The error with which the data has ended the transfer, if it has.
    package func appReceived(
        _ id: UInt64, _ data: UnsafeRawBufferPointer
    ) throws(AppTransfers.Refusal) -> TransportError? {
        let (reports, error) = try unsafe appTransfers.received(TransferID(id), data)
        answered(reports)
        return error
    }

    package func appFinished(_ id: UInt64, _ error: TransportError?) throws(AppTransfers.Refusal) {
        answered(try appTransfers.finished(TransferID(id), error))
    }

    private func answered(_ reports: [TransferEvent]) {
        change { table, now in
            for report in reports { table.transportReports(report, at: now) }
        }
        if appTransfers.needsTurn { wakeTransport() }
    }
}
