package import SDDBase

/// Transfers bytes. Owns one thread, `sdd-net`; in each turn of its loop it takes commands from its delegate and
/// delivers events to it, both in batches. Knows nothing of images, queues or callers.
package protocol Transport: AnyObject, Sendable {
    /// Starts the thread. Called once, before any other function.
    func start(delegate: any TransportDelegate) throws(TransportError)

    /// Makes the loop turn soon, so that it takes commands. Callable from any thread; cheap; never blocks.
    func wake()

    /// Ends the loop. Running transfers are dropped without an event. Callable from any thread; never blocks.
    func stop()

    /// Waits until the thread has ended and everything it owned is freed. Called once, but not on `sdd-net`.
    func join()

    /// Waits like `join()`, but with a time limit, after which the thread is abandoned. Meant for the end of the
    /// process.
    func join(milliseconds: Int64)

    /// The jar of requests that use cookies; `nil` for a transport without cookies.
    var cookies: CookieJar? { get }
}

/// Gives commands to a transport, and receives its events. Thread: `sdd-net` for both functions, with no lock of the
/// transport held.
package protocol TransportDelegate: AnyObject, Sendable {
    /// Appends the next commands, in order. Called at the start of each turn.
    /// - Returns: The time of the next call if there is no wake-up before, in microseconds of the monotonic clock;
    ///   `Int64.max` means never.
    func takeCommands(into commands: inout [TransportCommand]) -> Int64

    /// Handles the events of a turn, in order. No event of a transfer comes after its `.finished`, or after its
    /// `.cancel` command was taken.
    func handle(_ events: [TransferEvent])
}

package enum TransportCommand: Sendable {
    case start(TransferID, HTTPRequest, Priority)
    case cancel(TransferID)
    /// Stops reading and sending without ending the transfer. Its clocks stop until `.resume`.
    case pause(TransferID)
    case resume(TransferID)
    case setPriority(TransferID, Priority)
    /// Shows the body received so far in `.body` events, from now on.
    case show(TransferID)
}

/// The id of one transfer, which is never reused.
package struct TransferID: Hashable, Sendable {
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }
}

/// A request to send. Redirects are followed inside the transport. A value type that holds a single reference, because
/// a request is passed on often and rarely changed.
package struct HTTPRequest: Sendable {
    private struct Parts {
        var url: ImageURL
        var method: String
        var headers: HTTPFields
        var body: Bytes?
        var options: TransferOptions
        var plugin: (any AppTransport)?
        var sink: BodySink?
        var resume: ResumePoint?
        var cookies: [String]?
    }

    private final class Storage: Sendable {
        let parts: Parts

        init(_ parts: Parts) { self.parts = parts }
    }

    private var storage: Storage

    private var parts: Parts {
        get { storage.parts }
        set { storage = Storage(newValue) }
    }

    package init(
        url: ImageURL, method: String = "GET", headers: HTTPFields = HTTPFields(), body: Bytes? = nil,
        options: TransferOptions = .standard, plugin: (any AppTransport)? = nil
    ) {
        storage = Storage(
            Parts(url: url, method: method, headers: headers, body: body, options: options, plugin: plugin))
    }

    package var url: ImageURL {
        get { storage.parts.url }
        set { parts.url = newValue }
    }
    package var method: String {
        get { storage.parts.method }
        set { parts.method = newValue }
    }
    package var headers: HTTPFields {
        get { storage.parts.headers }
        set { parts.headers = newValue }
    }
    package var body: Bytes? {
        get { storage.parts.body }
        set { parts.body = newValue }
    }
    package var options: TransferOptions {
        get { storage.parts.options }
        set { parts.options = newValue }
    }
    /// The application's transport that fetches the request in place of this one.
    package var plugin: (any AppTransport)? {
        get { storage.parts.plugin }
        set { parts.plugin = newValue }
    }
    /// The destination of the body; `nil` means memory.
    package var sink: BodySink? {
        get { storage.parts.sink }
        set { parts.sink = newValue }
    }
    /// The beginning of the body, if it is already there. Only the rest is requested then, provided that the body is
    /// unchanged. Ignored unless the request is a plain GET over HTTP without conditions or ranges of its own.
    package var resume: ResumePoint? {
        get { storage.parts.resume }
        set { parts.resume = newValue }
    }
    /// The cookies of the jar that the URL's host may get, as "name=value", at the time the request was made; only for
    /// requests that use cookies. The response then tells whether others were sent (`Response.isOfUnknownCaller`).
    /// `nil` if that need not be known.
    package var cookies: [String]? {
        get { storage.parts.cookies }
        set { parts.cookies = newValue }
    }
}

/// Options that describe how to send a request. Most requests share one such object. Immutable.
package final class TransferOptions: Hashable, Sendable {
    package struct Values: Hashable, Sendable {
        /// False to accept any certificate of the server, for this request alone.
        package var verifiesCertificate = true
        package var usesCookies = false
        /// The version of the jar at the time the request was made, if it uses cookies, so that requests before and
        /// after a change are not equal.
        package var cookieVersion: UInt64 = 0
        package var credential: Credential?
        /// The user and password of the downloader's configured proxy.
        package var proxyUserinfo: String?
        package var clocks = TransferClocks()
        package var redirects = RedirectRule.follow
        /// Limits on hops and on bytes of the body; 0 means the limit of the transport's configuration.
        package var maxRedirects: Int32 = 0
        package var maxBodyBytes: Int64 = 0
        /// True to request the body without compression, and to deliver it as it arrives.
        package var staysPacked = false
        /// The CA file that replaces the configured file and path.
        package var caFile: String?

        package init() {}
    }

    package let values: Values
    /// The hash of the values, which is the same for equal values.
    package let hashKey: UInt64

    package init(_ values: Values) {
        self.values = values
        hashKey = UInt64(truncatingIfNeeded: values.hashValue)
    }

    package static let standard = TransferOptions(Values())

    package static func == (a: TransferOptions, b: TransferOptions) -> Bool {
        a === b || (a.hashKey == b.hashKey && a.values == b.values)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(hashKey) }
}

/// The rule for redirects: RFC 9110 §15.4.
package enum RedirectRule: Hashable, Sendable {
    case follow
    /// The redirect is delivered like any other response.
    case handOut
    case refuse
}

/// The time limits of one transfer, in milliseconds from the start of each stage; 0 means no limit.
package struct TransferClocks: Hashable, Sendable {
    /// The limit on name lookup, connect and TLS handshake, for each hop anew.
    package var connect: Int64 = 15_000
    /// The limit from sending the request to the first byte of the response.
    package var firstByte: Int64 = 0
    /// The limit on a time without a byte in either direction, from the start on.
    package var stall: Int64 = 15_000
    /// The window for the limit on speed: if a body in either direction brings less than `leastBytesPerSecond` within
    /// it, the transfer ends.
    package var slowness: Int64 = 60_000
    /// The default is below the speed of any usable line, shared by the default hashKey of concurrent transfers.
    package var leastBytesPerSecond: Int64 = 100

    package init() {}
}

/// The caller's credential, only for the host, port and scheme of the request's URL.
package struct Credential: Hashable, Sendable {
    package struct Schemes: OptionSet, Hashable, Sendable {
        package let rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }
        package static let basic = Schemes(rawValue: 1)
        package static let digest = Schemes(rawValue: 2)
        package static let negotiate = Schemes(rawValue: 4)
        package static let ntlm = Schemes(rawValue: 8)
        package static let all: Schemes = [.basic, .digest, .negotiate, .ntlm]
    }

    /// The user name and password are sent only when the server has asked for them, once.
    package var username: String?
    package var password: String?
    package var schemes = Schemes.all
    /// The token is sent at once.
    package var bearerToken: String?
    /// Paths of PEM files with the client's certificate and its key.
    package var clientCertificate: String?
    package var clientKey: String?
    package var clientKeyPassword: String?

    package init() {}
}

package enum TransferEvent: Sendable {
    /// The header of the final response has arrived. The body or the end follows.
    case response(TransferID, ResponseHead)
    /// More of the body has arrived; sent at most once per turn for each transfer. The hashKey is the total so far.
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

package struct ResponseHead: Sendable {
    package var response: Response
    /// Bytes of the body as it will be delivered; -1 if unknown.
    package var expectedBytes: Int64
    /// The times at which the request of the last hop began and at which this header was complete (RFC 9111 §4.2.3), in
    /// microseconds of the wall clock.
    package var requestTime: Int64
    package var responseTime: Int64
    /// Bytes of the body that were already there; see `HTTPRequest.resume`.
    package var resumedBytes: Int64 = 0

    package init(response: Response, expectedBytes: Int64, requestTime: Int64 = 0, responseTime: Int64 = 0) {
        self.response = response
        self.expectedBytes = expectedBytes
        self.requestTime = requestTime
        self.responseTime = responseTime
    }
}

package struct TransferEnd: Sendable {
    /// The whole body, or the reason why there is none.
    package var result: Result<Bytes, TransportError>
    /// The last response, even if it was a redirect; `nil` if there was none.
    package var response: Response?
    package var timings: TransferTimings
    package var metrics: TransferMetrics
    /// True if the body is proven to be complete: by its length, its last chunk, or the end of its compressed data. If
    /// false, it may have been cut off without a sign.
    package var isEndProven: Bool

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
    package var remoteAddress = ""

    package init() {}
}
