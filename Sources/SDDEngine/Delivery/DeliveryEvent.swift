package import SDDCoders

/// An event for the application, in the same form from the decision to the callback.
///
/// `Recipient` may be any type: for objects alone the compiler would keep the case in unused bits of the payload, and
/// memcheck reports reading them as use of undefined memory.
package enum DeliveryEvent<Recipient> {
    /// Progress of 0 bytes comes at the start, and again with `expected` at the response; both are delivered (row C2).
    case progress(Recipient, received: Int64, expected: Int64)
    /// Indirect, because its content would make all events large.
    indirect case facts(Recipient, ImageFacts)
    /// An image that is not complete.
    case preview(Recipient, DownloadResult)
    /// The cached image of a load, shown before its end.
    case cached(Recipient, DownloadResult)
    /// The only terminal event of a request.
    case end(Recipient, DownloadResult)
    /// The observer is `nil` until the event is queued: only the delivery knows it.
    case notice(Notice, to: (any Observer)?)
    /// Indirect, likewise.
    indirect case prefetch(Recipient, PrefetchEvent)
}

extension DeliveryEvent: Sendable where Recipient: Sendable {}

/// Events that were decided together.
struct EventBatch<Recipient> {
    var events: [DeliveryEvent<Recipient>] = []
    /// The ends of stages of loads, which are events for the loaders and not for the application.
    var stageEnds: [RequestEnd<Recipient>] = []
    /// Listeners whose ends are decided but delivered later, or never: no other event may reach them.
    var muted: [Recipient] = []
    /// Objects to release without the lock, because they may hold objects of the application.
    var released: [AnyObject] = []
    /// The batch's position in the order of all batches; 0 if it is empty.
    var ticket: UInt64 = 0

    var isEmpty: Bool { events.isEmpty && stageEnds.isEmpty && muted.isEmpty && released.isEmpty }
}

/// The end of a request, or of the stage of a load.
struct RequestEnd<Recipient> {
    let listener: Recipient
    let result: DownloadResult
    let isOfStage: Bool
}
