internal import CSDD
internal import SDDEngine

/// The SDD_OPTION_ bits: their names, and the calls that accept them. Other bits are refused, never ignored.
struct RequestOptions: OptionSet {
    let rawValue: UInt64

    /// A kind of call.
    enum Use {
        case download, get, load, loaderGet, prefetch, batch, loadedBatch, query

        fileprivate var known: RequestOptions {
            switch self {
            case .download: [.ofAll, .ofNetwork, .ofPictures, .delivered, .ofDownloads]
            case .get: [.ofAll, .ofNetwork, .ofPictures, .bytesOnly, .ofDownloads]
            case .load: [.ofAll, .ofNetwork, .ofPictures, .delivered, .ofLoads, .transformAnimated, .entryBytes]
            case .loaderGet: [.ofAll, .ofNetwork, .ofPictures, .bytesOnly, .ofLoads, .transformAnimated, .entryBytes]
            case .prefetch: [.ofNetwork, .ofPictures, .ofLoads, .transformAnimated]
            case .batch: [.ofAll, .ofNetwork, .ofPictures, .bytesOnly, .ofDownloads]
            case .loadedBatch: [.ofAll, .ofNetwork, .ofPictures, .bytesOnly, .ofLoads, .transformAnimated]
            case .query: [.ofAll, .ofPictures]
            }
        }

        fileprivate var name: String {
            switch self {
            case .download: "a download"
            case .get: "sdd_get()"
            case .load: "a load"
            case .loaderGet: "sdd_loader_get()"
            case .prefetch: "a list to prefetch"
            case .batch: "a batch without a loader"
            case .loadedBatch: "a batch with a loader"
            case .query: "a query of a cache"
            }
        }
    }

    /// An error in option bits.
    enum Flaw: Error {
        /// The index of a bit that this version does not know.
        case unknown(Int)
        /// The name of an option that the call does not accept.
        case meaningless(StaticString, Use)

        var words: String {
            switch self {
            case .unknown(let bit): "bit \(bit) is none that this version of libsdd knows"
            case .meaningless(let name, let use): "\(name) means nothing to \(use.name)"
            }
        }
    }

    /// - Throws: the error for the lowest invalid bit.
    static func check(_ options: UInt64, for use: Use) throws(Flaw) {
        let wrong = options & ~use.known.rawValue
        if wrong == 0 { return }
        let bit = wrong.trailingZeroBitCount
        guard let name = names.first(where: { $0.bit == 1 << bit })?.name else { throw .unknown(bit) }
        throw .meaningless(name, use)
    }

    /// Checks option bits for a call that returns the error itself.
    static func refuse(_ options: UInt64, _ place: Place, for use: Use) throws(Refusal) {
        do throws(Flaw) {
            try check(options, for: use)
        } catch {
            switch error {
            case .unknown: throw Refusal(SDD_ERROR_UNSUPPORTED, place, error.words)
            case .meaningless: throw Refusal(SDD_ERROR_INVALID_ARGUMENT, place, error.words)
            }
        }
    }

    private init(_ bits: Int) { rawValue = UInt64(bits) }
    init(rawValue: UInt64) { self.rawValue = rawValue }
}

// MARK: - Groups

extension RequestOptions {
    private static let ofAll = RequestOptions(SDD_OPTION_LOW_PRIORITY | SDD_OPTION_HIGH_PRIORITY)
    private static let ofNetwork = RequestOptions(
        SDD_OPTION_HANDLE_COOKIES | SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES | SDD_OPTION_CONTINUE_IN_BACKGROUND
            | SDD_OPTION_RESUME | SDD_OPTION_STOP_WHEN_COMPLETE | SDD_OPTION_USE_HTTP_CACHE
            | SDD_OPTION_BODY_AS_SENT)
    private static let ofPictures = RequestOptions(
        SDD_OPTION_SCALE_DOWN_LARGE_IMAGES | SDD_OPTION_AVOID_DECODE_IMAGE | SDD_OPTION_DECODE_FIRST_FRAME_ONLY
            | SDD_OPTION_PRELOAD_ALL_FRAMES)
    private static let bytesOnly = RequestOptions(SDD_OPTION_BYTES_ONLY)
    private static let delivered = RequestOptions(
        SDD_OPTION_BYTES_ONLY | SDD_OPTION_PROGRESSIVE_LOAD | SDD_OPTION_PROGRESS_EVENTS | SDD_OPTION_FACTS_EVENTS)
    private static let ofDownloads = RequestOptions(SDD_OPTION_IGNORE_CACHED_RESPONSE)
    private static let ofLoads = RequestOptions(
        SDD_OPTION_RETRY_FAILED | SDD_OPTION_REFRESH_CACHED | SDD_OPTION_FROM_CACHE_ONLY | SDD_OPTION_FROM_LOADER_ONLY
            | SDD_OPTION_WAIT_STORE_CACHE)
    private static let transformAnimated = RequestOptions(SDD_OPTION_TRANSFORM_ANIMATED_IMAGE)
    private static let entryBytes = RequestOptions(
        SDD_OPTION_QUERY_MEMORY_DATA | SDD_OPTION_QUERY_MEMORY_DATA_SYNC | SDD_OPTION_QUERY_DISK_DATA_SYNC)

    private static let names: [(bit: Int, name: StaticString)] = [
        (SDD_OPTION_LOW_PRIORITY, "SDD_OPTION_LOW_PRIORITY"),
        (SDD_OPTION_HIGH_PRIORITY, "SDD_OPTION_HIGH_PRIORITY"),
        (SDD_OPTION_HANDLE_COOKIES, "SDD_OPTION_HANDLE_COOKIES"),
        (SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES, "SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES"),
        (SDD_OPTION_CONTINUE_IN_BACKGROUND, "SDD_OPTION_CONTINUE_IN_BACKGROUND"),
        (SDD_OPTION_RESUME, "SDD_OPTION_RESUME"),
        (SDD_OPTION_STOP_WHEN_COMPLETE, "SDD_OPTION_STOP_WHEN_COMPLETE"),
        (SDD_OPTION_PROGRESSIVE_LOAD, "SDD_OPTION_PROGRESSIVE_LOAD"),
        (SDD_OPTION_PROGRESS_EVENTS, "SDD_OPTION_PROGRESS_EVENTS"),
        (SDD_OPTION_FACTS_EVENTS, "SDD_OPTION_FACTS_EVENTS"),
        (SDD_OPTION_BYTES_ONLY, "SDD_OPTION_BYTES_ONLY"),
        (SDD_OPTION_SCALE_DOWN_LARGE_IMAGES, "SDD_OPTION_SCALE_DOWN_LARGE_IMAGES"),
        (SDD_OPTION_AVOID_DECODE_IMAGE, "SDD_OPTION_AVOID_DECODE_IMAGE"),
        (SDD_OPTION_DECODE_FIRST_FRAME_ONLY, "SDD_OPTION_DECODE_FIRST_FRAME_ONLY"),
        (SDD_OPTION_PRELOAD_ALL_FRAMES, "SDD_OPTION_PRELOAD_ALL_FRAMES"),
        (SDD_OPTION_TRANSFORM_ANIMATED_IMAGE, "SDD_OPTION_TRANSFORM_ANIMATED_IMAGE"),
        (SDD_OPTION_USE_HTTP_CACHE, "SDD_OPTION_USE_HTTP_CACHE"),
        (SDD_OPTION_IGNORE_CACHED_RESPONSE, "SDD_OPTION_IGNORE_CACHED_RESPONSE"),
        (SDD_OPTION_RETRY_FAILED, "SDD_OPTION_RETRY_FAILED"),
        (SDD_OPTION_REFRESH_CACHED, "SDD_OPTION_REFRESH_CACHED"),
        (SDD_OPTION_FROM_CACHE_ONLY, "SDD_OPTION_FROM_CACHE_ONLY"),
        (SDD_OPTION_FROM_LOADER_ONLY, "SDD_OPTION_FROM_LOADER_ONLY"),
        (SDD_OPTION_WAIT_STORE_CACHE, "SDD_OPTION_WAIT_STORE_CACHE"),
        (SDD_OPTION_QUERY_MEMORY_DATA, "SDD_OPTION_QUERY_MEMORY_DATA"),
        (SDD_OPTION_QUERY_MEMORY_DATA_SYNC, "SDD_OPTION_QUERY_MEMORY_DATA_SYNC"),
        (SDD_OPTION_QUERY_DISK_DATA_SYNC, "SDD_OPTION_QUERY_DISK_DATA_SYNC"),
        (SDD_OPTION_BODY_AS_SENT, "SDD_OPTION_BODY_AS_SENT"),
    ]
}

func has(_ option: Int, in options: UInt64) -> Bool { options & UInt64(option) != 0 }
