package import SDDBase

/// A class, so that it passes between queues by reference. Immutable.
package final class TransferEnd: Sendable {
    /// The whole body, or the reason why there is none.
    package let result: Result<Bytes, TransportError>
    /// The last response, even if it was a redirect; `nil` if there was none.
    package let response: Response?
    package let timings: TransferTimings
    package let metrics: TransferMetrics
    /// True if the body is proven to be complete: by its length, its last chunk, or the end of its compressed data. If
    /// false, it may have been cut off without a sign.
    package let isEndProven: Bool

    package init(
        result: Result<Bytes, TransportError>, response: Response? = nil,
        timings: TransferTimings = TransferTimings(), metrics: TransferMetrics = TransferMetrics(),
        isEndProven: Bool = true
    ) {
        self.isEndProven = isEndProven
        self.result = result
        self.response = response
        self.timings = timings
        self.metrics = metrics
    }

    /// Returns the same end with another response.
    package func with(_ response: Response?) -> TransferEnd {
        TransferEnd(
            result: result, response: response, timings: timings, metrics: metrics, isEndProven: isEndProven)
    }
}

/// Durations of the stages of one transfer, in microseconds; 0 for a stage that did not happen. In a chain of redirects
/// they belong to the last hop, except for `total`.
package struct TransferTimings: Sendable, Equatable {
    package var nameLookup: Int64 = 0
    package var connect: Int64 = 0
    package var tls: Int64 = 0
    package var firstByte: Int64 = 0
    package var total: Int64 = 0

    package init() {}
}

/// The costs of one transfer. Counts of bytes and connections cover all hops.
package struct TransferMetrics: Sendable, Equatable {
    package var requestBytes: Int64 = 0
    package var headerBytes: Int64 = 0
    /// Bytes of the body as received, before decompression.
    package var bodyBytes: Int64 = 0
    /// Bytes of the body as delivered to memory or a sink, after decompression.
    package var handedOutBytes: Int64 = 0
    /// The part of `handedOutBytes` that was not transferred again, because it was already there; see
    /// `HTTPRequest.resume`.
    package var resumedBytes: Int64 = 0
    package var connectionsOpened: Int32 = 0
    package var redirects: Int32 = 0
    package var remotePort: Int32 = 0
    /// 10, 11, 20 or 30; 0 if there was no response.
    package var httpVersion: Int32 = 0
    package var remoteAddress = ""

    package init() {}
}

/// What was measured of a transfer that goes on.
package struct TransferSoFar: Sendable {
    package let timings: TransferTimings
    package let metrics: TransferMetrics
}
