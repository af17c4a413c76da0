/// The reason why a transfer failed: its kind, with libcurl's error code and the system's errno.
package struct TransportError: Error, Equatable {
    package enum Kind: Sendable, CaseIterable {
        case malformedURL, unsupportedScheme
        case resolve, connect, addressRefused, proxy
        /// The proxy could not serve the request for the time being.
        case proxyUnavailable
        case tlsHandshake, certificateExpired, certificateWrongHost, certificateSelfSigned, certificateUnknownIssuer,
            certificateBad, caFile, clientCertificate
        case connectTimeout, firstByteTimeout, stall, tooSlow
        case connectionLost
        case tooManyRedirects, redirectScheme, redirectDowngrade, redirectMalformed, redirectUnwanted
        case notHTTP, headersTooLarge, bodyTooLarge, truncatedBody, contentEncoding
        /// The server sent frames without content endlessly.
        case flood
        /// The server refused to process the request, each time it was sent.
        case notProcessed
        case fileNotReadable, sinkNotWritable, sinkBlocked
        /// The system provided no memory, descriptor or thread, or libcurl could not create the transfer.
        case noResources
        /// libcurl was built without a feature that the configuration or the request needs.
        case unsupported
        /// Thrown by `Transport.start`: a part of the configuration is invalid, or its cookie file cannot be read.
        case badConfiguration
        case other
    }

    package var kind: Kind
    package var curlCode: Int32
    package var systemError: Int32
    /// True if nothing of the request was sent on the last connection, or on none.
    package var isUnsent = false
    /// One sentence with the known details: libcurl's message, the host, the limit.
    package var message: String

    package init(_ kind: Kind, curlCode: Int32 = 0, systemError: Int32 = 0, message: String = "") {
        self.kind = kind
        self.curlCode = curlCode
        self.systemError = systemError
        self.message = message
    }
}
