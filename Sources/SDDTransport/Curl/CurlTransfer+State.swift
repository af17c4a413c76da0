internal import CCurl
internal import Glibc
internal import SDDBase

// MARK: - State shared by the transfers of a loop

extension CurlTransfer {
    /// State that the transfers of a loop share, and that the loop reads.
    final class News {
        /// Transfers that have something new since the loop last looked.
        var transfers: [CurlTransfer] = []
        /// Number of running transfers that must not be sent twice. While there are any, every transfer that may use
        /// HTTP/2 reads libcurl's log.
        var listeners = 0
        /// Number of hops on each connection that may use HTTP/2, by its local port.
        private(set) var users: [Int32: Int] = [:]
        /// Connections that may use HTTP/2 and on which a response has begun; some may be closed.
        private var answering: Set<Int32> = []
        private static let mostAnswering = 1024
        /// The connections that a transfer has left for a new one while others still had them.
        private var replaced: Set<Int32> = []
        private var serial = SerialOrigins()
        /// Origins that are serial since the loop last looked.
        var newSerial: Set<UInt64> = []
        var waiting = WaitingRequests()
        /// Running transfers that may use HTTP/2 and began while there were no listeners.
        var deaf: Set<TransferID> = []

        /// - Parameter isNew: libcurl has made a connection for the hop, perhaps at the port of an earlier one.
        func joined(_ port: Int32, isNew: Bool) {
            if port == 0 { return }
            let others = users[port] ?? 0
            users[port] = others + 1
            if isNew, others == 0 { answering.remove(port) }
        }

        func left(_ port: Int32) {
            guard port != 0, let count = users[port] else { return }
            users[port] = count > 1 ? count - 1 : nil
            if count <= 1 { replaced.remove(port) }
        }

        func isSerial(_ request: HTTPRequest) -> Bool { serial.contains(request.hostKey) }

        /// Called when a response begins.
        func answered(_ request: HTTPRequest, on port: Int32, byHTTP1: Bool) {
            if request.scheme == .https, serial.answered(request.hostKey, byHTTP1: byHTTP1) {
                newSerial.insert(request.hostKey)
            }
            if port == 0 { return }
            if answering.count >= Self.mostAnswering { answering.removeAll() }
            answering.insert(port)
        }

        func hasAnswered(on port: Int32) -> Bool { answering.contains(port) }

        /// Whether no other transfer has left this connection for a new one yet.
        func isFirst(toReplace port: Int32) -> Bool { port == 0 || replaced.insert(port).inserted }
    }

    /// Objects that all transfers of a loop share.
    final class Surroundings {
        let options: CurlOptions
        let news = News()
        let time: any TimeSource
        let watch: TurnWatch
        var kept = KeptHandles()

        init(options: CurlOptions, time: any TimeSource, watch: TurnWatch) {
            self.options = options
            self.time = time
            self.watch = watch
        }

        /// Returns a kept handle if there is one for the request, or else a new one; `nil` if libcurl has no memory.
        func handle(for request: HTTPRequest, priority: Priority) -> EasyHandle? {
            HandleShape(request, priority: priority, options).flatMap { kept.take(for: $0) } ?? EasyHandle()
        }

        func witness(of request: HTTPRequest, at now: Int64) -> ConnectionWitness {
            ConnectionWitness(watch, isSecure: request.scheme == .https, at: now)
        }
    }
}

// MARK: - State of a transfer and its hops

extension CurlTransfer {
    /// The end of a hop.
    enum Conclusion {
        case ended(TransferEnd)
        case redirected(HTTPRequest)
        /// The response is useless; the request starts over.
        case startsOver(HTTPRequest, because: String)
        /// The server did not process the request; it is sent again.
        case asksAgain(HTTPRequest)
    }

    /// State that lasts from the first hop of a transfer to its last.
    struct Progress {
        var priority = Priority.normal
        var redirects: Redirects
        var headerBudget: HeaderBudget
        var measures = TransferMeasures()
        var clocks: StageClocks
        var lastResponse: Response?
        var cookieCount = 0
        /// `nil` if the sent cookies need not be checked.
        var sentCookies: SentCookies?
        var pause: Pause?
        /// libcurl's result for a hop that ended during a pause, or while the sink was blocked.
        var heldCode: CURLcode?
        var sink = SinkPause.none
        var isAnnounced = false
        var isOver = false
        /// Number of times the server did not process the request.
        var refusals = 0
        static let mostRefusals = 3
        /// True if libcurl must not use any of its connections.
        var wantsNewConnection = false
        /// True if the body is delivered as it arrives, because libcurl does not know its coding.
        var leavesPacked = false
        /// The challenges that `request.authorization` answers.
        var answeredChallenges: [AuthChallenge] = []
        var reportedBytes = 0
        /// Bytes of the body that were shown; `nil` if the body is not to be shown.
        var shownBytes: Int?
        var isInNews = false
    }

    enum Pause {
        /// There is no connection. libcurl cannot pause that, so the transfer is removed from the multi handle.
        case takenAway
        /// libcurl reads until the first bytes of the body, which makes the server stop sending eventually.
        case stopped
        /// libcurl goes on, but no events are reported. libcurl 7.88 supports no other pause over HTTP/2: unread data
        /// of one stream blocks the others on its connection, and part of it may be lost.
        case hushed
    }

    /// The effect of a sink that takes no bytes at the moment.
    enum SinkPause {
        case none
        /// Bytes that still arrive are kept, up to the limit on bodies. Over HTTP/2 that is all of the body; see
        /// `Pause.hushed`.
        case waits
        /// libcurl does not read.
        case stopped
    }

    struct Hop {
        enum Step { case connected, received }

        /// The latest step since the loop last looked.
        var step: Step?
        var isConnected = false
        var way = AlternativeServices.Way.usual
        /// True if the request was first sent over a connection that libcurl had opened for another request.
        var hasJoined = false
        /// The local port of a connection that may use HTTP/2; 0 if there is none.
        var port: Int32 = 0
        /// True if the request was sent, and no byte of a response has arrived.
        var isUnanswered = false
        /// True if a line of a response's header has arrived.
        var hasHeader: Bool { isConnected && !isUnanswered }
        /// True if something of the request was sent to the host.
        var wasSent: Bool { isConnected || isUnanswered }
        /// Number of times the request was sent again without a response in between.
        var repeats = 0
        static let mostRepeats = 1
        /// True if the server has answered other requests on the connection that was lost: it closes each after a few, and
        /// those that it leaves behind are sent again together.
        var isLeftBehind = false
        static let mostRepeatsBesideAnswers = 4
        /// The reason why the request is to be sent over a new connection.
        var leavesConnection: String?
        /// True if the request was sent as often as it may be.
        var hasGivenUp = false
        var sentBytes: Int64 = 0
        var record = ArrivingRecord()
        /// The errno of a failed socket() call.
        var socketError: Int32 = 0
        /// The last address that the policy refused. It is the cause of a failure only if no socket was opened.
        var refusedAddress: AddressRefusal?
        var hasOpenedSocket = false
    }
}

extension CurlTransfer.Hop {
    mutating func openSocket(
        _ address: UnsafeMutablePointer<curl_sockaddr>, for url: String, in surroundings: CurlTransfer.Surroundings
    ) -> curl_socket_t {
        // libcurl has lost a connection, and makes another one.
        isConnected = false
        let policy = surroundings.options.addressPolicy
        if !policy.allowsEverything, let refusal = policy.refusal(of: address, for: url) {
            refusedAddress = refusal
            return -1
        }
        // For an address in the URL itself, libcurl 8.23 does not look at the option.
        guard surroundings.options.configuration.ipVersion.includes(address.pointee.family) else {
            socketError = EAFNOSUPPORT
            return -1
        }
        hasOpenedSocket = true
        let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.pointee.family, type, address.pointee.protocol)
        if descriptor < 0 { socketError = errno } else { surroundings.watch.sockets.opened(descriptor) }
        return descriptor
    }
}

extension CurlTransfer.Progress {
    init(_ options: CurlOptions, _ own: TransferOptions, at now: Int64) {
        let limit = own.values.maxRedirects
        self.init(
            redirects: Redirects(
                limit: limit > 0 ? limit : options.configuration.maxRedirects,
                allowsDowngrade: options.configuration.allowsDowngrade),
            headerBudget: HeaderBudget(
                maxBytes: options.configuration.maxHeaderBytes, maxLines: options.configuration.maxHeaderCount),
            clocks: Self.clocks(options, own.values.clocks, at: now))
    }

    /// Returns the clocks of a new hop.
    static func clocks(_ options: CurlOptions, _ clocks: TransferClocks, at now: Int64) -> StageClocks {
        StageClocks(clocks, countsConnect: !options.configuration.limitsConnections, startedAt: now)
    }
}

extension ResponseReader {
    /// Creates a reader for the response of one hop.
    convenience init(_ easy: EasyHandle, _ request: HTTPRequest, in surroundings: CurlTransfer.Surroundings) {
        let options = surroundings.options
        let asksForUpgrade = options.configuration.httpVersion == .http2 && request.scheme == .http
        self.init(
            easy, limit: request.limitOnBody(else: options.configuration.maxBodyBytes),
            terms: Terms(request, asksForUpgrade: asksForUpgrade), time: surroundings.time)
    }
}

extension TransportConfiguration.IPVersion {
    func includes(_ family: Int32) -> Bool {
        switch self {
        case .any: true
        case .v4: family != AF_INET6
        case .v6: family != AF_INET
        }
    }
}
