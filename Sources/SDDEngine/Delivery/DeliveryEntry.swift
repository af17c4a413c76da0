import SDDCoders

/// One event in the queue of a `Delivery`.
enum DeliveryEntry {
    /// The progress events (0, -1) at the start and (0, N) at the response, each delivered separately (row C2).
    case begin(Listener, expected: Int64)
    /// Delivers the count in `Listener.latest`.
    case progress(Listener)
    case facts(Listener, ImageFacts)
    /// Delivers the preview in `Listener.preview`.
    case preview(Listener)
    case cached(Listener, DownloadResult)
    case end(Listener, DownloadResult)
    case notice(any Observer, Notice)
    case prefetch(Listener, PrefetchEvent)
}
