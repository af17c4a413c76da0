import SDDBase
package import SDDCoders
package import SDDTransport

/// The only error type that the façade sees: the numbers of the C header, details of the failure, and a sentence. Lower
/// layers have error types of their own, which are translated only here.
package struct DownloadError: Error, Equatable, Sendable {
    /// SDD_ERROR_ numbers of the header that a request can end with.
    package enum Code: Int32, Sendable, CaseIterable {
        case invalidURL = 1000
        case badImageData = 1001
        case notModified = 1002
        case blocked = 1003
        case notCached = 1004
        case invalidOperation = 2000
        case invalidStatusCode = 2001
        case cancelled = 2002
        case invalidResponse = 2003
        case invalidContentType = 2004
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
        case addressRefused = 3013
        case headersTooLarge = 3014
        case proxy = 3015
        case sink = 3016
        case unsupported = 4001
        case noResources = 4009
        case doesNotFit = 4012
        case cache = 4013
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
        case imageTransform = 100_110
        case imageTooSlow = 100_111
        case imageTooManyFrames = 100_112
        case imageChunkTooLarge = 100_113
        case imageTooMuchMemory = 100_114
        case imageBufferTooSmall = 100_115
        case imageCoder = 100_116
        case imageIntegrity = 100_117
        case imageDecoder = 100_118
        case closed = 200_001
        case unknownOptions = 200_002
        case badHeader = 200_003
        case badMethod = 200_004
        case badBody = 200_005
        case noTransfer = 200_006
        case modifier = 200_007
        case badAccept = 200_008
        case badCredential = 200_009
        case badRange = 200_010
        case badNumber = 200_011
        case badSink = 200_012
        case badDecode = 200_013
        case badIntegrity = 200_014
        case cancelledWaiting = 200_201
        case cancelledSending = 200_202
        case cancelledDecoding = 200_203
        case cancelledBackground = 200_204
        case cancelledCache = 200_205
        case tlsHandshake = 300_301
        case tlsExpired = 300_302
        case tlsWrongHost = 300_303
        case tlsSelfSigned = 300_304
        case tlsUnknownIssuer = 300_305
        case tlsBadCertificate = 300_306
        case tlsCAFile = 300_307
        case tlsClientCertificate = 300_308
        case timeoutConnect = 300_401
        case timeoutStall = 300_402
        case timeoutQueue = 300_403
        case timeoutFirstByte = 300_404
        case timeoutTotal = 300_405
        case timeoutSlow = 300_406
        case timeoutWait = 300_407
        case notProcessed = 300_501
        case flood = 300_701
        case redirectScheme = 301_001
        case redirectDowngrade = 301_002
        case redirectMalformed = 301_003
        case redirectUnwanted = 301_004
        case sinkBlocked = 301_601
        case noDecoder = 400_901
        case cacheDirectory = 401_301
        case cacheUnsafe = 401_302
        case cacheWrite = 401_303
        case cacheRead = 401_304
        case cacheTooLarge = 401_305
        case cacheNothing = 401_306
        case cacheDropped = 401_307
        case cacheForeign = 401_308
    }

    package let code: Code
    package let detail: Detail
    package var curlCode: Int32 = 0
    package var systemError: Int32 = 0
    package let message: String
    /// True if the same request may well succeed later.
    package private(set) var isRetryable: Bool
    /// True if nothing of the request was sent on the last connection, or on none.
    private var isUnsent = false

    package init(_ code: Code, _ detail: Detail, _ message: String) {
        self.code = code
        self.detail = detail
        self.message = message
        isRetryable = Self.isRetryable(code, detail)
    }
}

// MARK: - Errors of the engine

extension DownloadError {
    /// - Parameter retryAfter: the number of seconds that the server asks to wait (Retry-After); nil if it names none.
    static func status(_ status: Int32, retryAfter: Int64? = nil) -> DownloadError {
        let patience =
            retryAfter.map { ", in \($0) \($0 == 1 ? "second" : "seconds") as it says itself (Retry-After)" } ?? ""
        var error = DownloadError(
            .invalidStatusCode, .none,
            "The server answered with HTTP status \(status): \(StatusMeaning.words(status))\(patience).")
        error.isRetryable = [408, 425, 429, 500, 502, 503, 504].contains(status)
        return error
    }

    static func contentType(_ type: String) -> DownloadError {
        let sentence =
            type.isEmpty
            ? "The response names no media type, and only certain ones are accepted."
            : "The response's media type, \(type), is not among the accepted ones."
        return DownloadError(.invalidContentType, .none, sentence)
    }

    static let notModified = DownloadError(
        .notModified, .none,
        "The server answered with status 304: what the request's conditional header names has not changed.")
    /// - Parameters:
    ///   - status: the HTTP status of the failure; 0 for none.
    ///   - ago: microseconds since the failure.
    ///   - left: microseconds until the URL is tried again; nil for never.
    static func blocked(status: Int32, ago: Int64, left: Int64?) -> DownloadError {
        let reason = status == 0 ? "" : " with status \(status)"
        let end = left.map { "it is tried again in \(($0 + 999_999) / 1_000_000) s" } ?? "it is not tried again"
        var error = DownloadError(
            .blocked, .none,
            "The URL failed\(reason) \(ago / 1_000_000) s ago, and \(end); a load can be told to try failed URLs all the "
                + "same.")
        error.isRetryable = left != nil
        return error
    }
    static let tookTooLong = timeout(.timeoutTotal)
    static let closed = DownloadError(
        .invalidOperation, .closed, "The downloader was closed, and takes no more requests.")
    static let impossibleForm = DownloadError(
        .invalidOperation, .badDecode,
        "A picture cannot be decoded later into memory that is lent now, nor be transformed later or into other memory "
            + "than the library's own.")
    static let responseRefused = DownloadError(
        .invalidResponse, .none,
        "The response modifier refused the response, or set a header field that HTTP does not allow.")
    static let unexpectedBody = DownloadError(
        .badImageData, .imageIntegrity, "The body has another size or another SHA-256 than the request expects.")
    static let transformFailed = DownloadError(
        .badImageData, .imageTransform, "The body transform gave nothing for the body.")

    static let cancelledWaiting = cancelled(.cancelledWaiting, "before it was sent")
    static let cancelledSending = cancelled(.cancelledSending, "while it was being downloaded")
    static let cancelledDecoding = cancelled(.cancelledDecoding, "while the picture was being decoded")
    static let cancelledAsking = cancelled(.cancelledCache, "while a cache was being asked")
    static let cancelledLoading = cancelled(.cancelledWaiting, "before it was downloaded")
    static let cancelledBackground = cancelled(
        .cancelledBackground, "because the grace time in the background was over")

    private static func cancelled(_ detail: Detail, _ when: String) -> DownloadError {
        DownloadError(.cancelled, detail, "The request was cancelled \(when).")
    }

    static func timeout(_ detail: Detail) -> DownloadError {
        let sentence =
            detail == .timeoutQueue
            ? "The request waited longer in the queue than its limit on waiting allows."
            : "The request took longer in all than its limit on the whole time allows."
        return DownloadError(.timeout, detail, sentence)
    }
}

// MARK: - Properties for the application

extension DownloadError {
    /// SDD_CLASS_ numbers of the header.
    package enum Class: Int32, Sendable {
        case request = 1
        case cancelled, response, image, network, tls, timeout, limit, system
    }

    package var errorClass: Class { Self.errorClass(code, detail) }

    package static func errorClass(_ code: Code, _ detail: Detail) -> Class {
        switch code {
        case .invalidURL: .request
        case .invalidOperation: detail == .noTransfer ? .system : .request
        case .badImageData: imageClass(detail)
        case .cancelled: .cancelled
        case .notModified, .invalidStatusCode, .invalidResponse, .invalidContentType, .redirectRefused,
            .tooManyRedirects:
            .response
        case .transport, .resolve, .connect, .connectionLost, .protocol, .truncatedBody, .contentEncoding, .proxy:
            .network
        case .tls: .tls
        case .timeout: .timeout
        case .bodyTooLarge, .headersTooLarge, .addressRefused: .limit
        case .notCached, .blocked, .unsupported, .doesNotFit: .request
        case .cache: cacheClass(detail)
        case .fileNotReadable, .noResources, .sink: .system
        }
    }

    private static func cacheClass(_ detail: Detail) -> Class {
        switch detail {
        case .cacheTooLarge: .limit
        case .cacheNothing: .request
        default: .system
        }
    }

    private static func imageClass(_ detail: Detail) -> Class {
        switch detail {
        case .imageTooManyPixels, .imageTooManyFrames, .imageChunkTooLarge: .limit
        case .imageNoMemory: .system
        case .imageBufferTooSmall: .request
        default: .image
        }
    }

    private static func isRetryable(_ code: Code, _ detail: Detail) -> Bool {
        switch code {
        case .resolve, .connect, .timeout, .connectionLost, .truncatedBody, .noResources: true
        case .invalidOperation: detail == .noTransfer
        case .tls: detail == .tlsHandshake
        case .badImageData: detail == .imageNoMemory || detail == .imageTruncated
        default: false
        }
    }

    /// The stage at which the transport failed, if that was before the request was sent; otherwise `nil`.
    var connectStage: DownloadResult.Stage? {
        if isUnsent { return .connect }
        return switch code {
        case .resolve, .connect, .tls, .addressRefused, .proxy: .connect
        case .timeout: detail == .timeoutConnect ? .connect : nil
        default: nil
        }
    }
}

// MARK: - Errors of lower layers

extension DownloadError {
    package init(_ error: CoderError) {
        if error.kind == .noDecoder {
            let sentence = "The system gave no process that decodes pictures, or has ended it"
            let reason = error.reason.isEmpty ? "" : " (\(error.reason))"
            self.init(.noResources, .noDecoder, "\(sentence)\(reason).")
            systemError = error.systemError
            return
        }
        let (detail, sentence): (Detail, String) =
            switch error.kind {
            case .empty:
                (.imageEmpty, "The body is empty, so there is no picture to decode")
            case .unknownFormat:
                (.imageUnknownFormat, "The body does not begin as a JPEG or PNG does, and no coder takes it")
            case .corrupt: (.imageCorrupt, "The picture's data is damaged")
            case .truncated: (.imageTruncated, "The picture's data ends before its last pixel")
            case .zeroPixels: (.imageZeroPixels, "The picture says it has 0 pixels")
            case .tooManyPixels:
                (.imageTooManyPixels, "The picture has more pixels than the limit on pixels allows")
            case .tooManyFrames: (.imageTooManyFrames, "The animation has more frames than may be decoded")
            case .chunkTooLarge: (.imageChunkTooLarge, "A part of the picture beside its pixels is too large")
            case .tooManyScans: (.imageTooManyScans, "The progressive JPEG has more scans than any real one needs")
            case .tooSlow:
                (.imageTooSlow, "The picture takes longer to decode than the limit on decode time allows")
            case .decoder, .noDecoder: (.imageDecoder, "The process that decodes pictures has failed")
            case .tooMuchMemory:
                (.imageTooMuchMemory, "The picture takes more memory than the limit for one picture allows")
            case .tooMuchForBody:
                (.imageTooMuchMemory, "The picture takes more memory than may be taken for so small a body")
            case .unsupported: (.imageUnsupported, "The picture is of a kind that is not supported")
            case .noMemory: (.imageNoMemory, "There is no memory for the picture's pixels")
            case .bufferTooSmall: (.imageBufferTooSmall, "The buffer for the pixels is too small")
            case .coder: (.imageCoder, "The application's coder failed, or gave an invalid frame")
            case .transform: (.imageTransform, "A transform made nothing of the picture")
            }
        self.init(.badImageData, detail, error.reason.isEmpty ? "\(sentence)." : "\(sentence) (\(error.reason)).")
    }

    package init(_ error: TransportError) {
        let (code, detail) = Self.numbers(of: error.kind)
        self.init(code, detail, error.message)
        curlCode = error.curlCode
        isRetryable =
            isRetryable || error.kind == .proxyUnavailable
            || detail != .flood && Self.brokenStreams.contains(error.curlCode)
        systemError = error.systemError
        isUnsent = error.isUnsent
    }

    /// CURLE_HTTP2 and CURLE_HTTP3: a connection shared by several transfers has failed, and a new one may work.
    private static let brokenStreams: Set<Int32> = [16, 95]

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
        case .tooSlow: (.timeout, .timeoutSlow)
        case .connectionLost: (.connectionLost, .none)
        case .tooManyRedirects: (.tooManyRedirects, .none)
        case .firstByteTimeout: (.timeout, .timeoutFirstByte)
        case .redirectScheme: (.redirectRefused, .redirectScheme)
        case .redirectDowngrade: (.redirectRefused, .redirectDowngrade)
        case .redirectMalformed: (.redirectRefused, .redirectMalformed)
        case .redirectUnwanted: (.redirectRefused, .redirectUnwanted)
        case .clientCertificate: (.tls, .tlsClientCertificate)
        case .addressRefused: (.addressRefused, .none)
        case .headersTooLarge: (.headersTooLarge, .none)
        case .proxy, .proxyUnavailable: (.proxy, .none)
        case .sinkNotWritable: (.sink, .none)
        case .sinkBlocked: (.sink, .sinkBlocked)
        case .notHTTP: (.protocol, .none)
        case .flood: (.protocol, .flood)
        case .notProcessed: (.connectionLost, .notProcessed)
        case .bodyTooLarge: (.bodyTooLarge, .none)
        case .truncatedBody: (.truncatedBody, .none)
        case .contentEncoding: (.contentEncoding, .none)
        case .fileNotReadable: (.fileNotReadable, .none)
        case .noResources, .unsupported, .badConfiguration: (.invalidOperation, .noTransfer)
        case .other: (.transport, .none)
        }
    }
}
