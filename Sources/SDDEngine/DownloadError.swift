package import SDDCoders
package import SDDTransport

/// The one error type the façade sees: the numbers of the C header, what is known of this failure, and
/// a sentence. Layers below have errors of their own, translated here and nowhere else.
package struct DownloadError: Error, Equatable, Sendable {
    /// SDD_ERROR_ numbers of the header that a request can end with.
    package enum Code: Int32, Sendable, CaseIterable {
        case invalidURL = 1000
        case badImageData = 1001
        case invalidOperation = 2000
        case invalidStatusCode = 2001
        case cancelled = 2002
        case transport = 3000
        case resolve = 3001
        case connect = 3002
        case tls = 3003
        case timeout = 3004
        case connectionLost = 3005
        case tooManyRedirects = 3006
        case `protocol` = 3007
        case bodyTooLarge = 3008
        case truncatedBody = 3009
        case redirectRefused = 3010
        case contentEncoding = 3011
        case fileNotReadable = 3012
        case noResources = 4009
    }

    /// SDD_DETAIL_ numbers of the header.
    package enum Detail: Int32, Sendable, CaseIterable {
        case none = 0
        case urlNull = 100_001
        case urlEmpty = 100_002
        case urlTooLong = 100_003
        case urlNotUTF8 = 100_004
        case urlMalformed = 100_005
        case urlScheme = 100_006
        case imageEmpty = 100_101
        case imageUnknownFormat = 100_102
        case imageCorrupt = 100_103
        case imageTruncated = 100_104
        case imageZeroPixels = 100_105
        case imageTooManyPixels = 100_106
        case imageUnsupported = 100_107
        case imageNoMemory = 100_108
        case imageTooManyScans = 100_109
        case unknownOptions = 200_002
        case badHeader = 200_003
        case badMethod = 200_004
        case badBody = 200_005
        case noTransfer = 200_006
        case cancelledWaiting = 200_201
        case cancelledSending = 200_202
        case cancelledDecoding = 200_203
        case tlsHandshake = 300_301
        case tlsExpired = 300_302
        case tlsWrongHost = 300_303
        case tlsSelfSigned = 300_304
        case tlsUnknownIssuer = 300_305
        case tlsBadCertificate = 300_306
        case tlsCAFile = 300_307
        case timeoutConnect = 300_401
        case timeoutStall = 300_402
    }

    package let code: Code
    package let detail: Detail
    package var curlCode: Int32 = 0
    package var systemError: Int32 = 0
    package let message: String

    package init(_ code: Code, _ detail: Detail = .none, _ message: String) {
        self.code = code
        self.detail = detail
        self.message = message
    }
}

// MARK: - What happens in the engine itself

extension DownloadError {
    package static func status(_ status: Int32) -> DownloadError {
        DownloadError(
            .invalidStatusCode,
            "The server answered with HTTP status \(status), and only 200 to 299 bring a picture; check the URL.")
    }

    package static func cancelled(_ detail: Detail) -> DownloadError {
        let stage =
            switch detail {
            case .cancelledWaiting: "before it was sent"
            case .cancelledSending: "while it was being downloaded"
            default: "while the picture was being decoded"
            }
        return DownloadError(.cancelled, detail, "The request was cancelled \(stage).")
    }

    private init(_ code: Code, _ message: String) { self.init(code, .none, message) }
}

// MARK: - What comes from below

extension DownloadError {
    package init(_ error: CoderError) {
        let (detail, sentence): (Detail, String) =
            switch error.kind {
            case .empty:
                (.imageEmpty, "The body is empty, so there is no picture to decode")
            case .unknownFormat:
                (
                    .imageUnknownFormat,
                    "The body does not begin as a JPEG or PNG does; ask for SDD_OPTION_BYTES_ONLY to see what it is"
                )
            case .corrupt: (.imageCorrupt, "The picture's data is damaged")
            case .truncated: (.imageTruncated, "The picture's data ends before its last pixel")
            case .zeroPixels: (.imageZeroPixels, "The picture says it has 0 pixels")
            case .tooManyPixels:
                (.imageTooManyPixels, "The picture has more pixels than max_pixels of the downloader's config allows")
            case .tooManyScans: (.imageTooManyScans, "The progressive JPEG has more scans than any real one needs")
            case .unsupported: (.imageUnsupported, "The picture is of a kind that is not supported")
            case .noMemory: (.imageNoMemory, "There is no memory for the picture's pixels")
            }
        self.init(.badImageData, detail, error.reason.isEmpty ? "\(sentence)." : "\(sentence) (\(error.reason)).")
    }

    package init(_ error: TransportError) {
        let (code, detail) = Self.numbers(of: error.kind)
        self.init(code, detail, error.message)
        curlCode = error.curlCode
        systemError = error.systemError
    }

    private static func numbers(of kind: TransportError.Kind) -> (Code, Detail) {
        switch kind {
        case .malformedURL: (.invalidURL, .urlMalformed)
        case .unsupportedScheme: (.invalidURL, .urlScheme)
        case .resolve: (.resolve, .none)
        case .connect: (.connect, .none)
        case .tlsHandshake: (.tls, .tlsHandshake)
        case .certificateExpired: (.tls, .tlsExpired)
        case .certificateWrongHost: (.tls, .tlsWrongHost)
        case .certificateSelfSigned: (.tls, .tlsSelfSigned)
        case .certificateUnknownIssuer: (.tls, .tlsUnknownIssuer)
        case .certificateBad: (.tls, .tlsBadCertificate)
        case .caFile: (.tls, .tlsCAFile)
        case .connectTimeout: (.timeout, .timeoutConnect)
        case .stall: (.timeout, .timeoutStall)
        case .connectionLost: (.connectionLost, .none)
        case .tooManyRedirects: (.tooManyRedirects, .none)
        case .redirectRefused: (.redirectRefused, .none)
        case .notHTTP: (.protocol, .none)
        case .bodyTooLarge: (.bodyTooLarge, .none)
        case .truncatedBody: (.truncatedBody, .none)
        case .contentEncoding: (.contentEncoding, .none)
        case .fileNotReadable: (.fileNotReadable, .none)
        case .noResources: (.invalidOperation, .noTransfer)
        case .other: (.transport, .none)
        }
    }
}
