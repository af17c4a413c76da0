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

    /// Where requests that use cookies have them; nil for a transport without.
    var cookies: CookieJar? { get }
}

/// The other side of a transport. Thread: `sdd-net`, both calls, with no lock of the transport held.
package protocol TransportDelegate: AnyObject, Sendable {
    /// Appends what is to be done next, in order. Asked at the start of each turn.
    /// - Returns: when to ask again though nobody wakes the loop, in microseconds of the monotonic clock;
    ///   `Int64.max` for never.
    func takeCommands(into commands: inout [TransportCommand]) -> Int64

    /// What happened in this turn, in order. No event of a transfer comes after its `.finished`, nor
    /// after its `.cancel` command was taken.
    func handle(_ events: [TransferEvent])
}

package enum TransportCommand: Sendable {
    case start(TransferID, HTTPRequest, Priority)
    case cancel(TransferID)
    /// Stops reading and sending, without an end; its clocks rest until `.resume`.
    case pause(TransferID)
    case resume(TransferID)
    case setPriority(TransferID, Priority)
    /// From now on, what has come of the body is shown in `.body` events.
    case show(TransferID)
}

/// Names one transfer; never used again.
package struct TransferID: Hashable, Sendable {
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }
}

/// What is sent. Redirects are followed inside the transport. A value, and one reference to copy: a request goes
/// through many hands, and is hardly ever changed on its way.
package struct HTTPRequest: Sendable {
    private struct Parts {
        var url: ImageURL
        var method: String
        var headers: HTTPFields
        var body: Bytes?
        var options: TransferOptions
        var plugin: (any PluginTransport)?
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
        options: TransferOptions = .standard, plugin: (any PluginTransport)? = nil
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
    /// The host's own transport that fetches it, in place of this one.
    package var plugin: (any PluginTransport)? {
        get { storage.parts.plugin }
        set { parts.plugin = newValue }
    }
    /// Where the body goes; nil: to memory.
    package var sink: BodySink? {
        get { storage.parts.sink }
        set { parts.sink = newValue }
    }
    /// The beginning of the body, which is there already: then only the rest is asked for, if that is still the same
    /// body. Ignored where it cannot be: only a GET over HTTP without a condition or range of the caller's has a rest.
    package var resume: ResumePoint? {
        get { storage.parts.resume }
        set { parts.resume = newValue }
    }
    /// Of a request that uses cookies: those of the jar that its host may get, as "name=value", when it was made. Then
    /// its response says whether others were sent (`Response.isOfUnknownCaller`). nil: nobody wants to know.
    package var cookies: [String]? {
        get { storage.parts.cookies }
        set { parts.cookies = newValue }
    }
}

/// How something is sent. Most requests share one such object. Immutable.
package final class TransferOptions: Hashable, Sendable {
    package struct Values: Hashable, Sendable {
        /// False: whatever certificate the server shows is taken, for this request alone.
        package var verifiesCertificate = true
        package var usesCookies = false
        /// That of the jar when the request was made, where it uses cookies: requests before and after a change are not
        /// the same.
        package var cookieVersion: UInt64 = 0
        package var credential: Credential?
        /// User and password of the proxy that the downloader was given.
        package var proxyUserinfo: String?
        package var clocks = TransferClocks()
        package var redirects = RedirectRule.follow
        /// Hops, and bytes of the body; 0: as the transport's configuration says.
        package var maxRedirects: Int32 = 0
        package var maxBodyBytes: Int64 = 0
        /// The body is asked for, and handed out, as it is: nothing is unpacked.
        package var staysPacked = false
        /// In place of the configuration's file and path.
        package var caFile: String?

        package init() {}
    }

    package let values: Values
    /// The same for equal ones.
    package let number: UInt64

    package init(_ values: Values) {
        self.values = values
        number = UInt64(truncatingIfNeeded: values.hashValue)
    }

    package static let standard = TransferOptions(Values())

    package static func == (a: TransferOptions, b: TransferOptions) -> Bool {
        a === b || (a.number == b.number && a.values == b.values)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// What is done about a redirect: RFC 9110 §15.4.
package enum RedirectRule: Hashable, Sendable {
    case follow
    /// It is the answer, as any other response.
    case handOut
    case refuse
}

/// The time limits of one transfer, each from the start of its stage, in milliseconds; 0: none.
package struct TransferClocks: Hashable, Sendable {
    /// Name lookup, connect and TLS handshake, of each hop anew.
    package var connect: Int64 = 15_000
    /// From the request being sent to the first byte of the answer.
    package var firstByte: Int64 = 0
    /// Without a byte in either direction, from the start on.
    package var stall: Int64 = 15_000
    /// A body in either direction ends the transfer when so long a window brings less than `leastBytesPerSecond`.
    package var slowness: Int64 = 60_000
    /// Less than any line that people wait for has, shared by as many transfers as run by default.
    package var leastBytesPerSecond: Int64 = 100

    package init() {}
}

/// Who the caller is, for the host, port and scheme of the request's URL alone.
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

    /// Sent only when the server has asked for them, once.
    package var username: String?
    package var password: String?
    package var schemes = Schemes.all
    /// Sent at once.
    package var bearerToken: String?
    /// Paths of PEM files.
    package var clientCertificate: String?
    package var clientKey: String?
    package var clientKeyPassword: String?

    package init() {}
}

package enum TransferEvent: Sendable {
    /// The final response's header has arrived, and body or end follows.
    case response(TransferID, ResponseHead)
    /// More of the body has arrived; at most one a turn for each transfer. The number is the total so far.
    case received(TransferID, Int64)
    /// The body so far, for who has asked to be shown it: behind each `.received`, and all of it before a
    /// `.finished` with a failure.
    case body(TransferID, Bytes)
    /// The end, always the last event of a transfer.
    case finished(TransferID, TransferEnd)
    /// One line for who listens, about a transfer; only what `TransportConfiguration.logs` asks for.
    case message(TransferID, LogLevel, String)
}

package enum LogLevel: Int32, Comparable, Sendable {
    case none = 0
    case error, warning, info, debug

    package static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

package struct ResponseHead: Sendable {
    package var response: Response
    /// Bytes of the body as it will be handed out; -1 when that cannot be known.
    package var expectedBytes: Int64
    /// When the request of the last hop was begun, and when this header was complete, RFC 9111 §4.2.3: microseconds
    /// of the wall clock.
    package var requestTime: Int64
    package var responseTime: Int64
    /// Of the body, what was there before: `HTTPRequest.resume`.
    package var resumedBytes: Int64 = 0

    package init(response: Response, expectedBytes: Int64, requestTime: Int64 = 0, responseTime: Int64 = 0) {
        self.response = response
        self.expectedBytes = expectedBytes
        self.requestTime = requestTime
        self.responseTime = responseTime
    }
}

package struct TransferEnd: Sendable {
    /// The whole body, or why there is none.
    package var result: Result<Bytes, TransportError>
    /// The last response, also one that was a redirect; nil if there was none.
    package var response: Response?
    package var timings: TransferTimings
    package var metrics: TransferMetrics
    /// Something says that the body is whole: its length, its last chunk, the end of what it is packed in. False: it may
    /// have been cut, and nothing tells.
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

/// Durations of the stages of one transfer, in microseconds; 0 for a stage that did not happen. Of a chain of
/// redirects those of the last hop, but for `total`.
package struct TransferTimings: Sendable, Equatable {
    package var nameLookup: Int64 = 0
    package var connect: Int64 = 0
    package var tls: Int64 = 0
    package var firstByte: Int64 = 0
    package var total: Int64 = 0

    package init() {}
}

/// What one transfer cost. Counts of bytes and of connections are over all hops.
package struct TransferMetrics: Sendable, Equatable {
    package var requestBytes: Int64 = 0
    package var headerBytes: Int64 = 0
    /// As received, packed.
    package var bodyBytes: Int64 = 0
    /// Of the body as it was handed out, to memory or a sink, unpacked.
    package var handedOutBytes: Int64 = 0
    /// Of these, what did not come again, for it was there: `HTTPRequest.resume`.
    package var resumedBytes: Int64 = 0
    package var connectionsOpened: Int32 = 0
    package var redirects: Int32 = 0
    package var remotePort: Int32 = 0
    package var remoteAddress = ""

    package init() {}
}
