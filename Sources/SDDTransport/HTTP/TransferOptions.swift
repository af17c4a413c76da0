package import SDDBase

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
        @ExactText package var proxyUserinfo: String?
        package var clocks = TransferClocks()
        package var redirects = RedirectRule.follow
        /// Limits on hops and on bytes of the body; 0 means the limit of the transport's configuration.
        package var maxRedirects: Int32 = 0
        package var maxBodyBytes: Int64 = 0
        /// True to request the body without compression, and to deliver it as it arrives.
        package var staysPacked = false
        /// The CA file that replaces the configured file and path.
        @ExactText package var caFile: String?

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
    /// The default is below the speed of any usable line, shared by the default number of concurrent transfers.
    package var leastBytesPerSecond: Int64 = 100

    package init() {}
}
