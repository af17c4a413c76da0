package import SDDBase
package import SDDCoders
import SDDTransport

/// What the application asks for: a request of any kind, read from its struct and checked, without anything of the
/// downloader's defaults. `RequestDefaults.resolve` makes the request of it, for each URL. A value type.
package struct RequestSpec: Sendable {
    package var options: RequestOptions
    package var priority = Priority.normal
    /// The form of the pixels, before the options are applied; `nil` means the downloader's.
    package var form: DecodeOptions?
    package var transfer: TransferSpec?
    package var check: BodyCheck?
    package var wantsProgress = false
    package var wantsPreviews = false
    package var wantsFacts = false
    /// What only a download can have; `nil` for a GET whose body goes to memory.
    package var sending: Sending?
    /// What only a load has; `nil` for a download.
    package var load: LoadSpec?
    /// The form in place of `form` and the downloader's, to which no option is applied: a tensor's.
    package var wholeForm: DecodeOptions?
    /// A further limit in microseconds on the whole request: that of its batch; 0 means none.
    package var batchLimit: Int64 = 0

    package init(options: RequestOptions = []) { self.options = options }

    /// What a download sends, and where its body goes.
    package struct Sending: Sendable {
        package var method = "GET"
        package var body: Bytes?
        /// A range of bytes, as in "0-1023".
        package var range: String?
        package var sink = Sink.memory

        package init() {}
    }

    package enum Sink: Sendable {
        case memory, discard
        case descriptor(Int32)
    }

    /// Returns a list's or batch's spec for one item.
    package func with(priority: Priority) -> RequestSpec {
        var spec = self
        spec.priority = priority
        return spec
    }

    /// Whether the request is more than a GET of its URL with the downloader's header fields.
    var changesDraft: Bool { sending != nil || transfer?.changesDraft == true }
}

/// What a load does with caches, and what it makes of the picture. A value type.
package struct LoadSpec: Sendable {
    package var levels = LoadLevels()
    /// The cache key that the application set; `nil` means the key that the cache makes from the URL.
    package var key: String?
    /// `nil` means no cache.
    package var caches: LoadCaches?
    package var transforms: TransformChain?

    package init(caches: LoadCaches? = nil) { self.caches = caches }
}

/// The caches of a load.
package struct LoadCaches: Sendable {
    /// The cache for the images in their wanted forms.
    package let images: ImageCache
    /// The cache for the originals of images in other forms; may be the same.
    package let originals: ImageCache

    package init(images: ImageCache, originals: ImageCache) {
        self.images = images
        self.originals = originals
    }
}

/// The cache levels that a load uses for each of its four cache operations.
package struct LoadLevels: Equatable, Sendable {
    package var query: CacheLevels
    package var store: CacheLevels
    package var originalQuery: CacheLevels
    package var originalStore: CacheLevels

    package init(
        query: CacheLevels = .all, store: CacheLevels = .all, originalQuery: CacheLevels = .disk,
        originalStore: CacheLevels = .disk
    ) {
        self.query = query
        self.store = store
        self.originalQuery = originalQuery
        self.originalStore = originalStore
    }

    /// These levels without the disk and without originals, for file: and data: URLs.
    var inMemory: LoadLevels {
        LoadLevels(
            query: query.subtracting(.disk), store: store.subtracting(.disk), originalQuery: [], originalStore: [])
    }
}
