internal import CCurl
internal import Glibc
internal import SDDBase

/// How one transfer ended, as libcurl tells it: the code, and what the handle knows besides.
/// thread: sdd-net
struct CurlOutcome {
    let code: CURLcode
    let easy: EasyHandle
    let url: ImageURL?
    /// libcurl's sentence on this failure; "" if it had none.
    let words: String
    /// errno of a socket() that failed; 0 if none did.
    let socketError: Int32
    let configuration: TransportConfiguration
    let hasBody: Bool

    /// Where the transfer was when it ended: after a redirect not where it began.
    var host: String {
        let host = URLText.host(easy.text(CURLINFO_EFFECTIVE_URL) ?? url?.text ?? "")
        return host.isEmpty ? "the server" : host
    }

    var systemError: Int32 {
        socketError != 0 ? socketError : Int32(clamping: easy.number(CURLINFO_OS_ERRNO))
    }

    /// Name lookup, connect and TLS handshake are done.
    var isConnected: Bool { easy.large(CURLINFO_PRETRANSFER_TIME_T) > 0 }

    var hasRedirected: Bool { easy.number(CURLINFO_REDIRECT_COUNT) > 0 }

    /// Whether the scheme it ended at is one it may use: if not, that is why it ended.
    var isAtAllowedScheme: Bool {
        switch URLText.scheme(easy.text(CURLINFO_EFFECTIVE_URL) ?? "") {
        case "https": url?.scheme != .file
        case "http": url?.scheme == .http
        case "file": url?.scheme == .file && configuration.allowsFiles
        default: false
        }
    }

    /// A scheme that libcurl has never heard of leads nowhere, not even to another effective URL.
    var isUnknownRedirect: Bool { wordsHave("redirect target") }

    /// libcurl 7.88 as Debian has it ends a header of over 300 KiB as a failure to receive.
    var isHeaderFlood: Bool { easy.number(CURLINFO_HEADER_SIZE) > 250 << 10 }

    /// Chunks of a size that is no number are, to libcurl, a failure to receive.
    var isBadChunk: Bool { wordsHave("chunk") }

    /// strstr: String's own search would bring Swift's regular expressions into the library, 1.4 MB.
    private func wordsHave(_ part: String) -> Bool { strstr(words, part) != nil }

    /// libcurl's own words, as one line, whatever a server may have put into them.
    var detail: String {
        let text = words.isEmpty ? curl_easy_strerror(code).map { String(cString: $0) } ?? "" : words
        let scalars = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : $0 }
        let line = String(String.UnicodeScalarView(scalars))
        return line.hasSuffix(".") ? String(line.dropLast()) : line
    }

    /// The system's words if it gave a reason, else libcurl's.
    var systemDetail: String {
        // Safety: glibc's strerror gives a string of this thread's own, or a static one.
        guard systemError != 0, let text = strerror(systemError) else { return detail }
        return String(cString: text)
    }
}

extension TransferTimings {
    /// What libcurl measured. Its clocks run from the start of the transfer, these are differences.
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
