/// The rules by which a load's failure blocks its URL, and for how long (rows F2 to F4 and F7). Pure; used by
/// `FailedURLs`. The raw values are the header's SDD_FAIL_POLICY_ constants.
package enum FailurePolicy: Int32, Sendable, CaseIterable {
    /// Blocks for a time that doubles with each failure; never for failures that may pass once there is a connection.
    case backOff = 0
    /// Blocks like SDWebImage 5: for ever or not at all.
    case sdWebImage
    /// Blocks nothing, unless the application decides so.
    case off

    /// The time a URL is blocked: after the first failure, and at most. In microseconds.
    struct Wait: Equatable, Sendable {
        let first: Int64
        let longest: Int64

        static let usual = Wait(first: 1_000_000, longest: 300_000_000)
        /// The server has said that the resource does not exist: a minute, up to an hour.
        static let gone = Wait(first: 60_000_000, longest: 3_600_000_000)
        static let forEver = Wait(first: .max, longest: .max)
    }

    /// Returns the block that a failure causes.
    /// - Parameters:
    ///   - hasRetryAfter: the server has sent a Retry-After.
    ///   - decision: the application's decision, if it was asked; it overrides the policy (row M23).
    /// - Returns: nil for a failure that is not remembered.
    func wait(
        after error: DownloadError, status: Int32, hasRetryAfter: Bool = false, decision: Bool? = nil
    ) -> Wait? {
        if decision == false { return nil }
        let isOwnCondition = Self.isOwnCondition(error, status: status)
        let wait: Wait? =
            switch self {
            case _ where isOwnCondition: nil
            case .backOff: Self.wait(error, status, hasRetryAfter)
            case .sdWebImage: Self.isBlockedBySDWebImage(error.code) ? .forEver : nil
            case .off: nil
            }
        if wait == nil, decision == true { return self == .sdWebImage ? .forEver : .usual }
        return wait
    }
}

// MARK: - Conditions

extension FailurePolicy {
    /// Whether the response failed a condition of this caller only; another caller may accept it.
    private static func isOwnCondition(_ error: DownloadError, status: Int32) -> Bool {
        switch error.code {
        case .invalidContentType: true
        // The server has succeeded, and the caller does not accept that status.
        case .invalidStatusCode: (200...299).contains(status)
        case .badImageData: error.detail == .imageIntegrity
        default: false
        }
    }
}

// MARK: - backOff

extension FailurePolicy {
    private static func wait(_ error: DownloadError, _ status: Int32, _ hasRetryAfter: Bool) -> Wait? {
        switch error.code {
        case .invalidStatusCode: wait(status: status, hasRetryAfter)
        case .badImageData: isAboutTheImage(error.detail) ? .usual : nil
        case .invalidURL, .tooManyRedirects, .redirectRefused, .protocol, .contentEncoding,
            .bodyTooLarge, .headersTooLarge:
            .usual
        // These depend on the connection. Certificates do too: behind a captive portal every host shows a wrong one.
        case .transport, .resolve, .connect, .tls, .timeout, .connectionLost, .truncatedBody, .proxy: nil
        // These are decisions of the application or problems of this machine, unrelated to the URL.
        case .notModified, .blocked, .notCached, .invalidOperation, .cancelled, .invalidResponse,
            .invalidContentType, .addressRefused,
            .fileNotReadable, .sink, .noResources, .cache, .unsupported, .doesNotFit:
            nil
        }
    }

    private static func wait(status: Int32, _ hasRetryAfter: Bool) -> Wait? {
        switch status {
        case 404, 410: .gone
        // These are about one request and not the URL: its credentials, conditions or range.
        case 401, 407, 412, 416, 417: nil
        // The request came too slowly or too early; the next one may well be answered.
        case 408, 425: hasRetryAfter ? .usual : nil
        default: .usual
        }
    }

    /// True unless the failure is about this machine's memory, the caller's buffer or the application's own functions.
    private static func isAboutTheImage(_ detail: DownloadError.Detail) -> Bool {
        switch detail {
        case .imageNoMemory, .imageBufferTooSmall, .imageTransform: false
        default: true
        }
    }
}

// MARK: - sdWebImage

extension FailurePolicy {
    /// Applies row F4. In its own error domain, SDWebImage blocks 1000 and 1001. In the URL domain (codes from 3000
    /// here) it blocks all but the eight codes of row F2: here those are resolve, connect, timeout and connectionLost,
    /// and also truncatedBody, which URLSession reports as a lost connection. A proxy's refusal belongs to a CFNetwork
    /// domain and does not block.
    private static func isBlockedBySDWebImage(_ code: DownloadError.Code) -> Bool {
        switch code {
        case .invalidURL, .badImageData: true
        case .notModified, .blocked, .notCached, .invalidOperation, .invalidStatusCode, .cancelled, .invalidResponse,
            .invalidContentType:
            false
        case .resolve, .connect, .timeout, .connectionLost, .truncatedBody: false
        case .transport, .tls, .tooManyRedirects, .protocol, .bodyTooLarge, .redirectRefused, .contentEncoding,
            .fileNotReadable, .addressRefused, .headersTooLarge, .sink:
            true
        case .proxy, .noResources, .cache, .unsupported, .doesNotFit: false
        }
    }
}
