import SDDBase
package import SDDCoders

/// The host's side of one accepted request: where its events go. Implemented by the façade. Thread: where
/// the downloader delivers, one call at a time for one request, with no lock held.
package protocol Receiver: AnyObject, Sendable {
    func progressed(token: UInt64, received: Int64, expected: Int64)
    func learned(_ facts: ImageFacts, token: UInt64)
    /// A picture that is not complete.
    func previewed(_ result: DownloadResult, token: UInt64)
    /// What a cache has, while the server is asked whether it is still right.
    func foundCached(_ result: DownloadResult, token: UInt64)
    func completed(_ result: DownloadResult, token: UInt64)
    /// Of a list to prefetch, instead of all of the above.
    func prefetched(_ event: PrefetchEvent, token: UInt64)
    /// Always the last call, after `completed` or after the host has taken the event: the host's data may go.
    func released()
}

/// Makes a whole of several requests. Called on the deciding thread, with no lock held.
protocol StageReceiver: AnyObject, Sendable {
    func stageEnded(_ result: DownloadResult, of token: UInt64)
}

extension Receiver {
    /// Only loads have that.
    package func foundCached(_ result: DownloadResult, token: UInt64) {}
    /// And only lists that.
    package func prefetched(_ event: PrefetchEvent, token: UInt64) {}
}

/// One accepted request on its way through a downloader: its token, its receiver, and the progress that
/// waits for it.
package final class Subscriber: @unchecked Sendable {
    package let token: UInt64
    package let receiver: any Receiver
    /// Told at once, on the deciding thread; `receiver` is then none of the host's.
    let isImmediate: Bool
    /// Its requests are the stages of a load: told of their ends, on the deciding thread, in place of `receiver`, who is
    /// told of the load's.
    let stages: (any StageReceiver)?

    // Safety: the rest is read and written only by `Delivery`, under its lock.

    /// The newest count of the body, while it waits to be delivered, and where: those before it are merged into it.
    var latest: (received: Int64, expected: Int64, place: LinkedList<Delivery.Entry>.Place)?
    /// The newest preview, while it waits.
    var preview: DownloadResult?
    /// Bytes that its result holds while it waits to be delivered; a part of `Delivery.State.undeliveredBytes`.
    var undeliveredBytes = 0
    /// The terminal event is queued: no more progress is.
    var hasEnded = false
    /// The request was cancelled: progress that waits is not delivered any more.
    var isMuted = false

    init(
        token: UInt64, receiver: any Receiver, isImmediate: Bool = false, stages: (any StageReceiver)? = nil
    ) {
        self.isImmediate = isImmediate
        self.token = token
        self.receiver = receiver
        self.stages = stages
    }
}
