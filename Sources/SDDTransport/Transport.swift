package import SDDBase

/// Moves bytes. Owns one thread, `sdd-net`, on which it pulls commands from its delegate and hands it
/// events, both in batches, once a turn of its loop. Knows nothing of pictures, queues or callers.
package protocol Transport: AnyObject, Sendable {
    /// Starts the thread. Called once, before anything else.
    func start(delegate: any TransportDelegate) throws(TransportError)

    /// Makes the loop turn soon, so that it pulls commands. Any thread; cheap; never blocks.
    func wake()

    /// Ends the loop: transfers that still run are dropped without an event. Any thread; never blocks.
    func stop()

    /// Waits until the thread has ended and everything it owned is freed. Not on `sdd-net`; once.
    func join()

    /// The same with a time limit, after which the thread is left alone: for the end of the process.
    func join(milliseconds: Int64)
}

/// The other side of a transport. Thread: `sdd-net`, both calls, with no lock of the transport held.
package protocol TransportDelegate: AnyObject, Sendable {
    /// Appends what is to be done next, in order. Asked at the start of each turn.
    func takeCommands(into commands: inout [TransportCommand])

    /// What happened in this turn, in order. No event of a transfer comes after its `.finished`, nor
    /// after its `.cancel` command was taken.
    func handle(_ events: [TransferEvent])
}

package enum TransportCommand: Sendable {
    case start(TransferID, HTTPRequest)
    case cancel(TransferID)
}

/// Names one transfer; never used again.
package struct TransferID: Hashable, Sendable {
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }
}

/// What is sent. Redirects are followed inside the transport.
package struct HTTPRequest: Sendable {
    package var url: ImageURL
    package var method: String
    package var headers: HTTPFields
    package var body: Bytes?
    /// False: whatever certificate the server shows is taken, for this request alone.
    package var verifiesCertificate: Bool

    package init(
        url: ImageURL, method: String = "GET", headers: HTTPFields = HTTPFields(), body: Bytes? = nil,
        verifiesCertificate: Bool = true
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.verifiesCertificate = verifiesCertificate
    }
}

package enum TransferEvent: Sendable {
    /// The final response's header has arrived, and body or end follows.
    case response(TransferID, ResponseHead)
    /// More of the body has arrived; at most one a turn for each transfer. The number is the total so far.
    case received(TransferID, Int64)
    /// The end, always the last event of a transfer.
    case finished(TransferID, TransferEnd)
}

package struct ResponseHead: Sendable, Equatable {
    /// HTTP status; 0 when the scheme has none.
    package var status: Int32
    /// Bytes of the body as it will be handed out; -1 when that cannot be known.
    package var expectedBytes: Int64

    package init(status: Int32, expectedBytes: Int64) {
        self.status = status
        self.expectedBytes = expectedBytes
    }
}

package struct TransferEnd: Sendable {
    /// The whole body, or why there is none.
    package var result: Result<Bytes, TransportError>
    /// HTTP status of the last response; 0 if there was none.
    package var status: Int32
    package var timings: TransferTimings

    package init(result: Result<Bytes, TransportError>, status: Int32, timings: TransferTimings) {
        self.result = result
        self.status = status
        self.timings = timings
    }
}

/// Durations of the stages of one transfer, in microseconds; 0 for a stage that did not happen.
package struct TransferTimings: Sendable, Equatable {
    package var nameLookup: Int64 = 0
    package var connect: Int64 = 0
    package var tls: Int64 = 0
    package var firstByte: Int64 = 0
    package var total: Int64 = 0

    package init() {}
}

/// Limits and trust of one transport; does not change while it lives.
package struct TransportConfiguration: Sendable {
    /// Longest time without a byte, from the start of a transfer on; also the limit of a connect.
    package var idleTimeoutMilliseconds: Int64 = 15_000
    package var maxBodyBytes: Int64 = 64 << 20
    package var maxRedirects: Int32 = 10
    package var allowsFiles = false
    package var caFile: String?
    package var caPath: String?

    package init() {}
}
