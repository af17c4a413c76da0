internal import CCurl

/// What a transfer has cost so far, hop by hop, as libcurl measured it. A value.
struct TransferMeasures {
    private(set) var timings = TransferTimings()
    private(set) var metrics = TransferMetrics()

    init() {}

    /// A hop is over.
    /// - Parameter bodyCount: of the request.
    mutating func add(_ easy: EasyHandle, bodyCount: Int) {
        let total = timings.total
        timings = TransferTimings(easy)
        timings.total += total
        metrics.requestBytes += Int64(easy.number(CURLINFO_REQUEST_SIZE))
        if !Self.isCountedWithRequest(bodyCount, easy) { metrics.requestBytes += easy.large(CURLINFO_SIZE_UPLOAD_T) }
        metrics.headerBytes += Int64(easy.number(CURLINFO_HEADER_SIZE))
        metrics.bodyBytes += easy.large(CURLINFO_SIZE_DOWNLOAD_T)
        metrics.connectionsOpened += Int32(clamping: easy.number(CURLINFO_NUM_CONNECTS))
        metrics.remotePort = Int32(clamping: easy.number(CURLINFO_PRIMARY_PORT))
        metrics.remoteAddress = easy.text(CURLINFO_PRIMARY_IP) ?? ""
    }

    /// A redirect is followed.
    mutating func addRedirect() { metrics.redirects += 1 }

    /// libcurl counts a body as a part of the request from 8.8 on, and before where it sends the two together.
    private static func isCountedWithRequest(_ count: Int, _ easy: EasyHandle) -> Bool {
        CurlFeatures.countsBodiesWithRequests || count < 64 << 10 && easy.httpVersion < 20
    }
}

extension TransferTimings {
    /// What libcurl measured. Its clocks run from the start of the hop, these are differences.
    init(_ easy: EasyHandle) {
        self.init()
        let lookup = easy.large(CURLINFO_NAMELOOKUP_TIME_T)
        let connected = easy.large(CURLINFO_CONNECT_TIME_T)
        let secured = easy.large(CURLINFO_APPCONNECT_TIME_T)
        let ready = easy.large(CURLINFO_PRETRANSFER_TIME_T)
        let first = easy.large(CURLINFO_STARTTRANSFER_TIME_T)
        total = max(0, easy.large(CURLINFO_TOTAL_TIME_T))
        if ready > 0 && first > 0 { firstByte = max(0, first - ready) }
        // On a connection used again the clocks stop too, a few microseconds after the start.
        guard easy.number(CURLINFO_NUM_CONNECTS) > 0 else { return }
        nameLookup = max(0, lookup)
        if connected > 0 { connect = max(0, connected - lookup) }
        if secured > 0 { tls = max(0, secured - connected) }
    }
}
