internal import CCurl
internal import Glibc
internal import SDDBase

/// One easy handle, for one request after another: sets it up, reads the answer, says what has happened.
/// It does not know the multi handle. Owned by `CurlLoop`, and kept at its address, which libcurl holds.
/// thread: sdd-net
final class CurlTransfer {
    /// Transfers to which something has come since the loop last looked.
    final class News { var transfers: [CurlTransfer] = [] }

    let easy: EasyHandle
    private let options: CurlOptions
    private let news: News
    private var scheme: ImageURL.Scheme?
    private var headers: HeaderList?

    private(set) var id = TransferID(0)
    /// nil between two requests. libcurl reads the body where it lies in here.
    private(set) var request: HTTPRequest?
    private var reader: ResponseReader
    private var reportedBytes = 0
    private var isInNews = false
    private var socketError: Int32 = 0
    /// libcurl writes its own sentence on a failure to it.
    private let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var clock = IdleClock(startedAt: 0)
    private var sentBytes: Int64 = 0

    /// - Returns: nil when libcurl has no memory for it.
    init?(options: CurlOptions, news: News) {
        guard let raw = curl_easy_init() else {
            words.deallocate()
            return nil
        }
        easy = EasyHandle(raw: raw)
        reader = ResponseReader(easy, limit: 0, isFile: false)
        words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        self.options = options
        self.news = news
        do { try options.prepare(easy, for: self) } catch { return nil }
    }

    deinit {
        curl_easy_cleanup(easy.raw)
        words.deallocate()
    }

    /// The transfer a handle belongs to.
    static func owner(of easy: EasyHandle) -> CurlTransfer? {
        // Safety: `connectCallbacks` put it there; the loop keeps it while the handle is in use.
        easy.pointer(CURLINFO_PRIVATE).map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    func connectCallbacks() throws(EasyHandle.Refusal) {
        // Safety: the handle, and with it libcurl's knowledge of this address, ends with the transfer.
        let address = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        try easy.set(CURLOPT_PRIVATE, pointer: address)
        try easy.set(CURLOPT_ERRORBUFFER, pointer: words)
        try easy.set(CURLOPT_WRITEDATA, pointer: address)
        try easy.set(CURLOPT_WRITEFUNCTION, callback: CurlCallback.body)
        try easy.set(CURLOPT_HEADERDATA, pointer: address)
        try easy.set(CURLOPT_HEADERFUNCTION, callback: CurlCallback.header)
        try easy.set(CURLOPT_DEBUGDATA, pointer: address)
        try easy.set(CURLOPT_DEBUGFUNCTION, callback: CurlCallback.debug)
        try easy.set(CURLOPT_OPENSOCKETDATA, pointer: address)
        try easy.set(CURLOPT_OPENSOCKETFUNCTION, callback: CurlCallback.openSocket)
    }
}

// MARK: - Begin and end

extension CurlTransfer {
    func begin(_ id: TransferID, _ request: HTTPRequest, headers: HeaderList, at now: Int64) throws(TransportError) {
        self.id = id
        self.request = request
        clock = IdleClock(startedAt: now)
        let isFile = request.url.scheme == .file
        reader = ResponseReader(easy, limit: options.configuration.maxBodyBytes, isFile: isFile)
        if isFile && options.configuration.allowsFiles { try PlainFile.check(request.url.text) }
        do {
            if headers !== self.headers { try easy.set(CURLOPT_HTTPHEADER, list: headers.first) }
            self.headers = headers
            try options.apply(request, to: easy, after: scheme)
            scheme = request.url.scheme
        } catch {
            throw TransportError.notStarted(error.code)
        }
    }

    /// What libcurl's verdict means, with the body if it is a good one.
    func end(_ code: CURLcode) -> TransferEnd {
        let failure = failure(code)
        let timings = TransferTimings(easy)
        let status = Int32(clamping: easy.number(CURLINFO_RESPONSE_CODE))
        return TransferEnd(
            result: failure.map { .failure($0) } ?? .success(reader.takeBody()), status: status, timings: timings)
    }

    /// Not a byte for too long.
    func endOfPatience() -> TransferEnd { end(CURLE_OPERATION_TIMEDOUT) }

    private func failure(_ code: CURLcode) -> TransportError? {
        // Ours first: libcurl only knows that the callback said no.
        if var refusal = reader.refusal {
            refusal.curlCode = Int32(code.rawValue)
            return refusal
        }
        let outcome = CurlOutcome(
            code: code, easy: easy, url: request?.url, words: String(cString: words), socketError: socketError,
            configuration: options.configuration, hasBody: reader.head != nil)
        return code == CURLE_OK ? reader.flaw(at: outcome.host) : outcome.error
    }

    /// Makes ready for another request, once libcurl has let go of the handle.
    /// - Returns: false if the handle is not worth keeping.
    func recycle() -> Bool {
        guard let request else { return true }
        let hasTapped = reader.hasTapped
        self.request = nil
        reader = ResponseReader(easy, limit: 0, isFile: false)
        reportedBytes = 0
        socketError = 0
        words.pointee = 0
        sentBytes = 0
        guard hasTapped || CurlOptions.leavesTraces(request) else { return true }
        curl_easy_reset(easy.raw)
        headers = nil
        scheme = nil
        do { try options.prepare(easy, for: self) } catch { return false }
        return true
    }
}

// MARK: - What libcurl calls

extension CurlTransfer {
    /// - Returns: false to make libcurl end the transfer.
    func received(_ bytes: UnsafeRawPointer, count: Int) -> Bool {
        guard request != nil else { return false }
        noteNews()
        return reader.received(bytes, count: count)
    }

    func receivedHeader(_ line: UnsafeRawBufferPointer) {
        guard request != nil else { return }
        noteNews()
        reader.receivedHeader(line)
    }

    func receivedRaw(_ bytes: UnsafeRawBufferPointer) {
        guard request != nil else { return }
        noteNews()
        reader.receivedRaw(bytes)
    }

    private func noteNews() {
        guard !isInNews else { return }
        isInNews = true
        news.transfers.append(self)
    }

    /// Closed on exec, which libcurl 7.88 leaves to the application.
    func openSocket(_ address: curl_sockaddr) -> curl_socket_t {
        let type = address.socktype | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family, type, address.protocol)
        if descriptor < 0 { socketError = errno }
        return descriptor
    }
}

// MARK: - What the loop asks

extension CurlTransfer {
    /// Appends what is new since the last call.
    func takeNews(at now: Int64, into events: inout [TransferEvent]) {
        isInNews = false
        clock.activity(at: now)
        guard request != nil, reader.refusal == nil, let head = reader.head, reader.count > reportedBytes else {
            return
        }
        if reportedBytes == 0 { events.append(.response(id, head)) }
        reportedBytes = reader.count
        events.append(.received(id, Int64(reportedBytes)))
    }

    /// Appends the end, and the response if it had no body that would have announced it.
    func takeEnd(_ end: TransferEnd, into events: inout [TransferEvent]) {
        if reportedBytes == 0, case .success = end.result {
            events.append(.response(id, ResponseHead(status: end.status, expectedBytes: 0)))
        }
        events.append(.finished(id, end))
    }

    /// When to look again whether anything still happens; nil if nothing has for too long.
    func nextLook(at now: Int64) -> Int64? {
        let idle = options.configuration.idleTimeoutMicroseconds
        guard request?.body != nil else { return clock.expiry(after: idle, at: now) }
        // No callback tells of bytes sent, so these transfers are looked at more often.
        let sent = easy.large(CURLINFO_SIZE_UPLOAD_T)
        if sent != sentBytes { clock.activity(at: now) }
        sentBytes = sent
        return clock.expiry(after: idle, at: now).map { min($0, now + max(idle / 8, 1000)) }
    }
}
