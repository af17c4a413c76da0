import SDDBase
package import SDDCoders

/// The application's side of one accepted request, which gets its events. Implemented by the façade. Called where the
/// downloader delivers, one call at a time for each request, with no lock held.
package protocol AppCallbacks: AnyObject, Sendable {
    func progressed(token: UInt64, received: Int64, expected: Int64)
    func learned(_ facts: ImageFacts, token: UInt64)
    /// Delivers an image that is not complete.
    func previewed(_ result: DownloadResult, token: UInt64)
    /// Delivers the cached result while the server is asked whether it is still valid.
    func foundCached(_ result: DownloadResult, token: UInt64)
    func completed(_ result: DownloadResult, token: UInt64)
    /// Delivers the end of one URL of a list to prefetch; a list gets none of the calls above.
    /// - Parameter result: without image and bytes.
    func prefetched(_ index: Int, _ result: DownloadResult, token: UInt64)
    /// Delivers the progress of a list, after the URL that it counts.
    func prefetchProgressed(_ counts: PrefetchCounts, token: UInt64)
    /// Delivers the end of a list, in place of `completed`.
    func prefetchEnded(_ report: PrefetchReport, token: UInt64)
    /// Always the last call, after `completed` or after the application has taken the event: the application's data may
    /// be freed.
    func released()
}

/// Combines several requests into one load. Called on the deciding thread, with no lock held.
protocol StageListener: AnyObject, Sendable {
    func stageEnded(_ result: DownloadResult, of token: UInt64)
}

/// Most callbacks are told of few events; the functions for the others do nothing.
extension AppCallbacks {
    package func progressed(token: UInt64, received: Int64, expected: Int64) {}
    package func learned(_ facts: ImageFacts, token: UInt64) {}
    package func previewed(_ result: DownloadResult, token: UInt64) {}
    package func foundCached(_ result: DownloadResult, token: UInt64) {}
    package func prefetched(_ index: Int, _ result: DownloadResult, token: UInt64) {}
    package func prefetchProgressed(_ counts: PrefetchCounts, token: UInt64) {}
    package func prefetchEnded(_ report: PrefetchReport, token: UInt64) {}
    package func released() {}
}

/// One accepted request in a downloader: its token, its callbacks, and the state of its delivery.
package final class Listener: @unchecked Sendable {
    package let token: UInt64
    package let callbacks: any AppCallbacks
    /// True if `callbacks`, which is then not the application's, is told at once on the deciding thread.
    let isImmediate: Bool
    /// Set if its requests are the stages of a load, and told of their ends on the deciding thread; `callbacks` is told
    /// only of the load's end.
    let stages: (any StageListener)?

    // Safety: the rest is read and written only by `Delivery`, under its lock.

    /// The places of its progress and its preview that wait for delivery; later ones replace them there. The progress
    /// of 0 bytes is not replaced.
    var progressPlace: LinkedList<DeliveryEvent<Listener>>.Place?
    var previewPlace: LinkedList<DeliveryEvent<Listener>>.Place?
    /// Bytes that its result holds while it waits to be delivered; a part of `Delivery.State.undeliveredBytes`.
    var undeliveredBytes = 0
    /// The batch of events that ends its stage, if that waits for earlier ones; otherwise 0, or a batch of the past.
    var earlyTicket: UInt64 = 0
    /// The final event is queued: no more progress is added.
    var hasEnded = false
    /// The request was cancelled: progress that waits is not delivered any more.
    var isMuted = false
    /// The end of a list is being delivered, or was.
    var isOver = false
    /// The largest number of ended URLs that the application of a list was told.
    var finishedURLs = 0

    // Safety: read and written only by the thread that takes events; the delivery's lock orders one after another.

    /// Calls about the request before its end that have not returned: one inside the other, if the application takes
    /// events inside a call.
    var earlyCalls = 0
    /// The application's data is to be freed when these have returned.
    var isReleaseDue = false

    init(
        token: UInt64, callbacks: any AppCallbacks, isImmediate: Bool = false, stages: (any StageListener)? = nil
    ) {
        self.isImmediate = isImmediate
        self.token = token
        self.callbacks = callbacks
        self.stages = stages
    }
}
