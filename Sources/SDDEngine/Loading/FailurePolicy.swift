/// Which failures of a load keep its URL from being tried again, and for how long: rows F2 to F4 and F7. Pure; used by
/// `FailedURLs`. The raw values are SDD_FAIL_POLICY_ of the header.
package enum FailurePolicy: Int32, Sendable, CaseIterable {
    /// For a while that doubles, and never for what may be over as soon as there is a connection.
    case backOff = 0
    /// As SDWebImage 5 has it: for ever, or not at all.
    case sdWebImage
    /// Nothing is remembered, unless the host says so.
    case off

    /// How long a URL is left alone: after the first failure, and at the most. Microseconds.
    struct Wait: Equatable, Sendable {
        let first: Int64
        let longest: Int64

        static let usual = Wait(first: 1_000_000, longest: 300_000_000)
        /// The server has said that there is nothing: a minute, up to an hour.
        static let gone = Wait(first: 60_000_000, longest: 3_600_000_000)
        static let forEver = Wait(first: .max, longest: .max)
    }

    /// - Parameters:
    ///   - hasRetryAfter: the server has said itself when to come again.
    ///   - decision: what the host said when it was asked: it stands above the policy (row M23).
    /// - Returns: nil for a failure that is forgotten at once.
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
    /// What came was not what this caller alone had asked for; for the next it may do.
    private static func isOwnCondition(_ error: DownloadError, status: Int32) -> Bool {
        switch error.code {
        case .invalidContentType: true
        // The server has succeeded, and the caller does not take that success.
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
        // What depends on the connection. A certificate too: behind a captive portal every host shows a wrong one.
        case .transport, .resolve, .connect, .tls, .timeout, .connectionLost, .truncatedBody, .proxy: nil
        // What the host has decided, and what is missing here: the URL has nothing to do with it.
        case .notModified, .blocked, .notCached, .invalidOperation, .cancelled, .invalidResponse,
            .invalidContentType, .addressRefused,
            .fileNotReadable, .sink, .noResources, .cache, .unsupported, .doesNotFit:
            nil
        }
    }

    private static func wait(status: Int32, _ hasRetryAfter: Bool) -> Wait? {
        switch status {
        case 404, 410: .gone
        // About the one request, and not the URL: who asked for it, under which condition, for which part.
        case 401, 407, 412, 416, 417: nil
        // A request that came too slowly or too early: the next one may well be answered.
        case 408, 425: hasRetryAfter ? .usual : nil
        default: .usual
        }
    }

    /// Not about the memory of this machine, the caller's buffer or the host's own functions.
    private static func isAboutTheImage(_ detail: DownloadError.Detail) -> Bool {
        switch detail {
        case .imageNoMemory, .imageBufferTooSmall, .imageTransform: false
        default: true
        }
    }
}

// MARK: - sdWebImage

extension FailurePolicy {
    /// Row F4. Of its own domain SDWebImage blocks 1000 and 1001. Of the URL domain, here the numbers from 3000, all
    /// but the eight codes of row F2: here those are resolve, connect, timeout and connectionLost, and also
    /// truncatedBody, which URLSession reports as a lost connection. A proxy's refusal comes in a domain of CFNetwork's.
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
