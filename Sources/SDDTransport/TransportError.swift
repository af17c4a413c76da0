/// Why a transfer gave no body. The class, with libcurl's own number and the system's beside it.
package struct TransportError: Error, Equatable {
    package enum Kind: Sendable, CaseIterable {
        case malformedURL, unsupportedScheme
        case resolve, connect
        case tlsHandshake, certificateExpired, certificateWrongHost, certificateSelfSigned, certificateUnknownIssuer,
            certificateBad, caFile
        case connectTimeout, stall
        case connectionLost, tooManyRedirects, redirectRefused
        case notHTTP, bodyTooLarge, truncatedBody, contentEncoding
        case fileNotReadable
        /// The system gave no memory, descriptor or thread, or libcurl could not make the transfer.
        case noResources
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
