/// Why a transfer gave no body. The class, with libcurl's own number and the system's beside it.
package struct TransportError: Error, Equatable {
    package enum Kind: Sendable, CaseIterable {
        case malformedURL, unsupportedScheme
        case resolve, connect, addressRefused, proxy
        case tlsHandshake, certificateExpired, certificateWrongHost, certificateSelfSigned, certificateUnknownIssuer,
            certificateBad, caFile, clientCertificate
        case connectTimeout, firstByteTimeout, stall, tooSlow
        case connectionLost
        case tooManyRedirects, redirectScheme, redirectDowngrade, redirectMalformed, redirectUnwanted
        case notHTTP, headersTooLarge, bodyTooLarge, truncatedBody, contentEncoding
        /// Frames without content came without end.
        case flood
        /// The host refused to look at it, each time it was asked.
        case notProcessed
        case fileNotReadable, sinkNotWritable, sinkBlocked
        /// The system gave no memory, descriptor or thread, or libcurl could not make the transfer.
        case noResources
        /// libcurl was built without what the configuration or the request asks for.
        case unsupported
        /// From `Transport.start`: a part of the configuration cannot be, or its cookie file cannot be read.
        case badConfiguration
        case other
    }

    package var kind: Kind
    package var curlCode: Int32
    package var systemError: Int32
    /// One sentence with what is known: libcurl's words, the host, the limit.
    package var message: String

    package init(_ kind: Kind, curlCode: Int32 = 0, systemError: Int32 = 0, message: String = "") {
        self.kind = kind
        self.curlCode = curlCode
        self.systemError = systemError
        self.message = message
    }
}
