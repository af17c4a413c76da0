/// The option bits of requests. The raw values are those of the header's SDD_OPTION_ constants.
package struct RequestOptions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
    private init(bit: Int) { rawValue = 1 << UInt64(bit) }

    package static let handleCookies = RequestOptions(bit: 0)
    package static let allowInvalidCertificates = RequestOptions(bit: 1)
    package static let continueInBackground = RequestOptions(bit: 2)
    package static let resume = RequestOptions(bit: 3)
    package static let stopWhenComplete = RequestOptions(bit: 4)
    package static let bodyAsSent = RequestOptions(bit: 5)
    package static let previewEvents = RequestOptions(bit: 6)
    package static let progressEvents = RequestOptions(bit: 7)
    package static let factsEvents = RequestOptions(bit: 8)
    package static let bytesOnly = RequestOptions(bit: 9)
    package static let avoidDecodeImage = RequestOptions(bit: 10)
    package static let decodeFirstFrameOnly = RequestOptions(bit: 11)
    package static let preloadAllFrames = RequestOptions(bit: 12)
    package static let transformAnimatedImage = RequestOptions(bit: 13)
    package static let useHTTPCache = RequestOptions(bit: 14)
    package static let ignoreCachedResponse = RequestOptions(bit: 15)
    package static let retryFailed = RequestOptions(bit: 16)
    package static let refreshCached = RequestOptions(bit: 17)
    package static let fromCacheOnly = RequestOptions(bit: 18)
    package static let fromLoaderOnly = RequestOptions(bit: 19)
    package static let waitStoreCache = RequestOptions(bit: 20)
    package static let queryMemoryData = RequestOptions(bit: 21)

    /// The names of the bits in the header, the lowest bit first.
    package static let names: [StaticString] = [
        "SDD_OPTION_HANDLE_COOKIES",
        "SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES",
        "SDD_OPTION_CONTINUE_IN_BACKGROUND",
        "SDD_OPTION_RESUME",
        "SDD_OPTION_STOP_WHEN_COMPLETE",
        "SDD_OPTION_BODY_AS_SENT",
        "SDD_OPTION_PREVIEW_EVENTS",
        "SDD_OPTION_PROGRESS_EVENTS",
        "SDD_OPTION_FACTS_EVENTS",
        "SDD_OPTION_BYTES_ONLY",
        "SDD_OPTION_AVOID_DECODE_IMAGE",
        "SDD_OPTION_DECODE_FIRST_FRAME_ONLY",
        "SDD_OPTION_PRELOAD_ALL_FRAMES",
        "SDD_OPTION_TRANSFORM_ANIMATED_IMAGE",
        "SDD_OPTION_USE_HTTP_CACHE",
        "SDD_OPTION_IGNORE_CACHED_RESPONSE",
        "SDD_OPTION_RETRY_FAILED",
        "SDD_OPTION_REFRESH_CACHED",
        "SDD_OPTION_FROM_CACHE_ONLY",
        "SDD_OPTION_FROM_LOADER_ONLY",
        "SDD_OPTION_WAIT_STORE_CACHE",
        "SDD_OPTION_QUERY_MEMORY_DATA",
    ]
}

// MARK: - The calls that accept them

extension RequestOptions {
    /// A kind of call.
    package enum Use: CaseIterable, Sendable {
        case download, downloadWait, load, loadWait, prefetch, batch, loadedBatch, query

        /// The options that the call accepts.
        package var known: RequestOptions {
            switch self {
            case .download: [.ofNetwork, .ofPictures, .delivered, .ofDownloads]
            case .downloadWait: [.ofNetwork, .ofPictures, .bytesOnly, .ofDownloads]
            case .load: [.ofNetwork, .ofPictures, .delivered, .ofLoads, .transformAnimatedImage, .queryMemoryData]
            case .loadWait: [.ofNetwork, .ofPictures, .bytesOnly, .ofLoads, .transformAnimatedImage, .queryMemoryData]
            case .prefetch: [.ofNetwork, .ofPictures, .ofLoads, .transformAnimatedImage]
            case .batch: [.ofNetwork, .ofPictures, .bytesOnly, .ofDownloads]
            case .loadedBatch: [.ofNetwork, .ofPictures, .bytesOnly, .ofLoads, .transformAnimatedImage]
            case .query: .ofPictures
            }
        }

        fileprivate var name: String {
            switch self {
            case .download: "a download"
            case .downloadWait: "a download that is waited for"
            case .load: "a load"
            case .loadWait: "a load that is waited for"
            case .prefetch: "a list to prefetch"
            case .batch: "a batch without a loader"
            case .loadedBatch: "a batch with a loader"
            case .query: "a query of a cache"
            }
        }
    }

    private static let ofNetwork: RequestOptions = [
        .handleCookies, .allowInvalidCertificates, .continueInBackground, .resume, .stopWhenComplete, .useHTTPCache,
        .bodyAsSent,
    ]
    private static let ofPictures: RequestOptions = [
        .avoidDecodeImage, .decodeFirstFrameOnly, .preloadAllFrames,
    ]
    /// The options that ask for events, where no callback does.
    package static let events: RequestOptions = [.previewEvents, .progressEvents, .factsEvents]
    private static let delivered: RequestOptions = [.bytesOnly, .events]
    private static let ofDownloads: RequestOptions = .ignoreCachedResponse
    private static let ofLoads: RequestOptions = [
        .retryFailed, .refreshCached, .fromCacheOnly, .fromLoaderOnly, .waitStoreCache,
    ]

    /// An error in option bits.
    package enum Flaw: Error {
        /// The index of a bit that this version does not know.
        case unknown(Int)
        /// The name of an option that the call does not accept.
        case meaningless(StaticString, Use)
        /// The name of an option that asks for events, where nobody takes them.
        case eventless(StaticString)

        package var words: String {
            switch self {
            case .unknown(let bit): "bit \(bit) is none that this version of libsdd knows"
            case .meaningless(let name, let use): "\(name) means nothing to \(use.name)"
            case .eventless(let name):
                "\(name) asks for events, which are taken with SDD_DELIVERY_APPLICATION alone: a callback needs no option"
            }
        }
    }

    /// Checks that a call accepts these options. Bits that it does not accept are refused, never ignored.
    /// - Parameter hasEvents: whether the application takes events.
    /// - Throws: the error for the lowest invalid bit.
    package func check(for use: Use, hasEvents: Bool = true) throws(Flaw) {
        let wrong = subtracting(use.known).rawValue
        guard wrong == 0 else {
            let bit = wrong.trailingZeroBitCount
            guard bit < Self.names.count else { throw .unknown(bit) }
            throw .meaningless(Self.names[bit], use)
        }
        if hasEvents || isDisjoint(with: .events) { return }
        throw .eventless(Self.names[intersection(.events).rawValue.trailingZeroBitCount])
    }
}
