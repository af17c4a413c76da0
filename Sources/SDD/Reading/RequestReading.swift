internal import CSDD
internal import Glibc
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

// Reading an sdd_download_request.

extension sdd_download_request {
    /// Reads the request, or returns the error that it ends with.
    func download(
        _ transfer: GivenTransfer?, for use: RequestOptions.Use, hasEvents: Bool, _ optionsPlace: Place? = nil
    ) -> Result<RequestSpec, DownloadError> {
        Result { () throws(DownloadError) in
            var made = try spec(for: use, hasEvents: hasEvents, optionsPlace)
            made.transfer = try transfer?.spec()
            if method != nil || body != nil || body_size != 0 || range != nil || sink != 0 {
                made.sending = try readSending()
            }
            return made
        }
    }

    private func readSending() throws(DownloadError) -> RequestSpec.Sending {
        var made = RequestSpec.Sending()
        made.method = try readMethod()
        made.body = try readBody(method: made.method)
        made.range = try readRange()
        switch Int(sink) {
        case SDD_SINK_MEMORY: break
        case SDD_SINK_FD: made.sink = .descriptor(sink_fd)
        case SDD_SINK_DISCARD: made.sink = .discard
        default:
            throw wrong(.badSink, .number("sdd_download_request.sink", sink, allowed: "0 or one of SDD_SINK_"))
        }
        return made
    }

    private func readMethod() throws(DownloadError) -> String {
        guard let method else { return "GET" }
        guard let token = headerName(method) else {
            throw wrong(.badMethod, noToken(method, "sdd_download_request.method"))
        }
        return token
    }

    private func readRange() throws(DownloadError) -> String? {
        if range == nil { return nil }
        guard let text = headerValue(range), isRange(text) else {
            throw wrong(
                .badRange, "sdd_download_request.range",
                "\(shown(range)) is not of the form \"first-last\", \"first-\" or \"-count\"")
        }
        return text
    }

    private func readBody(method: String) throws(DownloadError) -> Bytes? {
        guard body_size != 0 else { return nil }
        guard let body else {
            throw wrong(.badBody, "sdd_download_request.body", "NULL is allowed with a body_size of 0 alone")
        }
        guard body_size > 0 else {
            let size = UInt(bitPattern: body_size)
            throw wrong(
                .badBody, .number("sdd_download_request.body_size", size, allowed: "a size that memory can have"))
        }
        guard method != "GET", method != "HEAD" else {
            throw wrong(.badBody, "sdd_download_request.body", "a request with the method \(method) has no body")
        }
        guard let copy = Bytes(copying: UnsafeRawBufferPointer(start: body, count: body_size)) else {
            throw wrong(.badBody, .noMemory("sdd_download_request.body"))
        }
        return copy
    }
}

/// Whether a text is a byte range, RFC 9110 §14.1.2: "first-last", "first-" or "-count".
private func isRange(_ text: String) -> Bool {
    let ends = text.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, !ends.allSatisfy({ $0.isEmpty }) else { return false }
    let numbers = ends.map { $0.isEmpty ? 0 : number($0) ?? -1 }
    if numbers.contains(-1) { return false }
    return ends[0].isEmpty || ends[1].isEmpty || numbers[0] <= numbers[1]
}

/// Parses decimal digits; `nil` for any other character, or if the number is too large.
private func number(_ text: Substring) -> Int64? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
}

// MARK: - URLs

extension RequestDefaults {
    /// Returns the request that a spec makes of a URL.
    func request(
        _ spec: Result<RequestSpec, DownloadError>, _ url: UnsafePointer<CChar>?
    ) -> Result<DownloadRequest, DownloadError> {
        spec.flatMap { spec in
            Result { () throws(DownloadError) in
                try resolve(spec, try self.url(url, limit: bodyLimit(spec)))
            }
        }
    }
}
