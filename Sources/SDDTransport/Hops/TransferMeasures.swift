internal import CCurl

/// The timings and counts of a transfer so far, as libcurl measured them at the end of each hop.
struct TransferMeasures {
    private(set) var timings = TransferTimings()
    private(set) var metrics = TransferMetrics()

    init() {}

    var soFar: TransferSoFar { TransferSoFar(timings: timings, metrics: metrics) }

    /// Adds a hop that has ended, or a copy the one under way.
    /// - Parameters:
    ///   - bodyCount: Bytes of the request's body.
    ///   - wasSent: False if at most a request to a proxy was sent, to lead on to the host.
    mutating func add(_ easy: EasyHandle, bodyCount: Int, wasSent: Bool) {
        let total = timings.total
        timings = TransferTimings(easy)
        timings.total += total
        if wasSent {
            metrics.requestBytes += Int64(easy.number(CURLINFO_REQUEST_SIZE))
            let isWhole = Self.isCountedWithRequest(bodyCount, easy)
            if !isWhole { metrics.requestBytes += easy.large(CURLINFO_SIZE_UPLOAD_T) }
        }
        metrics.headerBytes += Int64(easy.number(CURLINFO_HEADER_SIZE))
        metrics.bodyBytes += easy.large(CURLINFO_SIZE_DOWNLOAD_T)
        metrics.connectionsOpened += Int32(clamping: easy.number(CURLINFO_NUM_CONNECTS))
        metrics.remotePort = Int32(clamping: easy.number(CURLINFO_PRIMARY_PORT))
        metrics.httpVersion = easy.httpVersion
        metrics.remoteAddress = easy.text(CURLINFO_PRIMARY_IP) ?? ""
    }

    /// Counts a redirect that is followed.
    mutating func addRedirect() { metrics.redirects += 1 }

    /// Whether libcurl counts the body as part of the request: always since 8.8, and before if it sends both together.
    private static func isCountedWithRequest(_ count: Int, _ easy: EasyHandle) -> Bool {
        CurlFeatures.countsBodiesWithRequests || count < 64 << 10 && easy.httpVersion < 20
    }
}

extension TransferTimings {
    /// Reads libcurl's timings of a hop. They count from the start of the hop; these are the differences.
    init(_ easy: EasyHandle) {
        self.init()
        let lookup = easy.large(CURLINFO_NAMELOOKUP_TIME_T)
        let connected = easy.large(CURLINFO_CONNECT_TIME_T)
        let secured = easy.large(CURLINFO_APPCONNECT_TIME_T)
        let ready = easy.large(CURLINFO_PRETRANSFER_TIME_T)
        let first = easy.large(CURLINFO_STARTTRANSFER_TIME_T)
        total = max(0, easy.large(CURLINFO_TOTAL_TIME_T))
        if ready > 0 && first > 0 { firstByte = max(0, first - ready) }
        // On a reused connection libcurl sets these times too, to a few microseconds after the start.
        guard easy.number(CURLINFO_NUM_CONNECTS) > 0 else { return }
        nameLookup = max(0, lookup)
        if connected > 0 { connect = max(0, connected - lookup) }
        if secured > 0 { tls = max(0, secured - connected) }
    }
}
