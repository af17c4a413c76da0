package import SDDBase

/// The header of a response. A class, so that it passes between queues by reference. Immutable.
package final class ResponseHead: Sendable {
    package let response: Response
    /// Bytes of the body as it will be delivered; -1 if unknown.
    package let expectedBytes: Int64
    /// The times at which the request of the last hop began and at which this header was complete (RFC 9111 §4.2.3), in
    /// microseconds of the wall clock.
    package let requestTime: Int64
    package let responseTime: Int64
    /// Bytes of the body that were already there; see `HTTPRequest.resume`.
    package let resumedBytes: Int64
    /// What was measured of the transfer until then, if the response is not a success: it may be refused, and then nobody
    /// waits for the end of its transfer.
    package let soFar: TransferSoFar?

    package init(
        response: Response, expectedBytes: Int64, requestTime: Int64 = 0, responseTime: Int64 = 0,
        resumedBytes: Int64 = 0, soFar: TransferSoFar? = nil
    ) {
        self.response = response
        self.expectedBytes = expectedBytes
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.resumedBytes = resumedBytes
        self.soFar = soFar
    }

    func with(_ soFar: TransferSoFar) -> ResponseHead {
        ResponseHead(
            response: response, expectedBytes: expectedBytes, requestTime: requestTime, responseTime: responseTime,
            resumedBytes: resumedBytes, soFar: soFar)
    }
}
