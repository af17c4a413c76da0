package import SDDBase
package import SDDCoders
import SDDTransport

/// What the application asks for: a request of any kind, read from its struct and checked, without anything of the
/// downloader's defaults. `RequestDefaults.resolve` makes the request of it, for each URL. A value type.
package struct RequestSpec: Sendable {
    package var options: RequestOptions
    package var priority = Priority.normal
    package var wantsProgress = false
    package var wantsPreviews = false
    package var wantsFacts = false
    /// A further limit in microseconds on the whole request: that of its batch; 0 means none.
    package var batchLimit: Int64 = 0
    package var transfer: TransferSpec?
    /// What only a load has; `nil` for a download.
    package var load: LoadSpec?
    private var rare: Rare?

    package init(options: RequestOptions = []) { self.options = options }

    /// What few requests have. The others are small, since a spec is passed on often.
    private final class Rare: @unchecked Sendable {
        // Safety: changed only by the one spec that refers to it.
        var form: DecodeOptions?
        var wholeForm: DecodeOptions?
        var check: BodyCheck?
        var sending: Sending?

        init(copying other: Rare?) {
            form = other?.form
            wholeForm = other?.wholeForm
            check = other?.check
            sending = other?.sending
        }
    }

    private mutating func own() -> Rare {
        if let rare, isKnownUniquelyReferenced(&self.rare) { return rare }
        let made = Rare(copying: rare)
        rare = made
        return made
    }

    /// The form of the pixels, before the options are applied; `nil` means the downloader's.
    package var form: DecodeOptions? {
        get { rare?.form }
        set { if rare != nil || newValue != nil { own().form = newValue } }
    }
    /// Whether there is a `form` or a `wholeForm`.
    var hasForm: Bool { rare.map { $0.form != nil || $0.wholeForm != nil } ?? false }
    /// The form in place of `form` and the downloader's, to which no option is applied: a tensor's.
    package var wholeForm: DecodeOptions? {
        get { rare?.wholeForm }
        set { if rare != nil || newValue != nil { own().wholeForm = newValue } }
    }
    package var check: BodyCheck? {
        get { rare?.check }
        set { if rare != nil || newValue != nil { own().check = newValue } }
    }
    /// What only a download can have; `nil` for a GET whose body goes to memory.
    package var sending: Sending? {
        get { rare?.sending }
        set { if rare != nil || newValue != nil { own().sending = newValue } }
    }

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
    /// `nil` means no cache.
    package var caches: LoadCaches?
    private var rare: Rare?

    package init(caches: LoadCaches? = nil) { self.caches = caches }

    /// What few loads have, as in a `RequestSpec`.
    private final class Rare: Sendable {
        let key: String?
        let transforms: TransformChain?

        init(_ key: String?, _ transforms: TransformChain?) {
            self.key = key
            self.transforms = transforms
        }
    }

    /// The cache key that the application set; `nil` means the key that the cache makes from the URL.
    package var key: String? {
        get { rare?.key }
        set { if rare != nil || newValue != nil { rare = Rare(newValue, transforms) } }
    }
    package var transforms: TransformChain? {
        get { rare?.transforms }
        set { if rare != nil || newValue != nil { rare = Rare(key, newValue) } }
    }
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
