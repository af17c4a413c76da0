package import SDDBase
package import SDDCoders
import SDDTransport

/// Somebody who is asked before a request goes to the network, or in place of that: a cache. Immutable; equal ones may be
/// asked once for all.
package protocol Inquiry: AnyObject, Sendable {
    /// The same for equal ones, and mostly another for others.
    var number: UInt64 { get }
    func isSame(as other: any Inquiry) -> Bool
    /// Called with no lock held.
    /// - Parameter answer: called once; at once, or later on a disk thread.
    func ask(_ question: Question, answer: @escaping @Sendable (Finding) -> Void)
    /// What the network brings is as good: requests with it and without may share a transfer that runs.
    var isOptional: Bool { get }
}

extension Inquiry {
    package var isOptional: Bool { false }
}

package struct Question: Sendable {
    /// There is no network: what there is has to do.
    package let isOffline: Bool
    /// It has first to be done with what it keeps of the attempt before.
    var after: PartSaver?
}

/// What came of an inquiry.
package enum Finding: Sendable {
    case found(Found)
    /// Nothing that would do: to the network, with what is to be sent and kept there.
    case network(HTTPExchange?)
    /// Nothing so far. When the request's turn has come, the right to download is asked for by this, and not before: what
    /// waits in a queue keeps nobody else from downloading.
    case turn(HTTPLook)
    /// Its turn has come, but another process downloads the same: this looks for what that brings.
    case busy(HTTPLook)
    /// What was to be done is done, and there is nothing to hand out.
    case done
    case failed(DownloadError)
}

extension Finding {
    /// The same for a job that also has handlers that have not made this inquiry: what a cache has under one key answers
    /// neither a request for another key nor one without a cache. The network answers all of them.
    var forAll: Finding {
        switch self {
        case .found, .busy: .network(nil)
        case .network, .turn, .done, .failed: self
        }
    }
}

/// What a cache has of a request.
package struct Found: Sendable {
    /// Encoded; nil where only pixels are known.
    package internal(set) var body: Bytes?
    /// The body is that of the form itself, made and transformed before it was encoded: it is only decoded.
    var isMade = false
    /// The body is that of the original, of which the picture in its form is to be made.
    var isOfOriginal = false
    /// Pixels that are ready; nil: to be decoded.
    var image: Image?
    /// Of an HTTP response.
    var head: ResponseHead?
    package internal(set) var origin: DownloadResult.Origin
    package internal(set) var extended: Bytes?
    /// Who is to have the pixels, once they are decoded.
    var keeper: PictureKeeper?
    /// For which request fields it is, as `Image.keptFor` has it; nil for all.
    var selection: Bytes?
    /// It is served stale; this asks the server, meanwhile, for what comes next (RFC 5861 §3).
    var revalidation: HTTPInquiry?
}

extension Found {
    /// On the calling thread, which takes the time of decoding; kept where it is to be.
    package func picture(in form: PixelForm) throws(CoderError) -> Image {
        if let image { return image }
        guard let body else { throw CoderError(.empty) }
        SpareMemory.teachMalloc()
        let image = try DecoderSet.ofProcess.decode(body, in: form, isMade: isMade)
        if let selection { image.keep(for: selection) }
        keeper?.keep(image)
        return image
    }

    /// As the end of a request.
    func result(_ image: Image?, at now: Int64) -> DownloadResult {
        var metrics = DownloadMetrics()
        metrics.bodyBytes = Int64(body?.count ?? 0)
        return DownloadResult(
            image: image, bytes: body, response: head?.response, origin: origin, isOfOriginal: isOfOriginal,
            extended: extended, metrics: metrics, ended: now)
    }
}

/// Where a picture is kept that was decoded of what a cache had on disk.
package struct PictureKeeper: Sendable {
    let cache: ImageCache
    let key: String

    func keep(_ image: Image) { cache.remember(image, for: key) }
}

/// What the table wants of caches, to be done without its lock.
enum Errand: Sendable {
    case ask(TransferID, any Inquiry, Question)
    /// A request whose turn has come: the right to download.
    case claim(TransferID, HTTPLook)
    /// What another process brings, or the end of its download.
    case awaitOther(TransferID, HTTPLook)
    case keep(PictureKeeper, Image)
    case keepOriginal(OriginalKeeper, Original)
    /// What a response has come to: stored, freshened, or what it invalidates.
    case settle(HTTPExchange, HTTPExchange.Outcome)
    /// A request of nobody's.
    case revalidate(HTTPRequest, HTTPInquiry)
    /// More of a body that is kept in case it breaks off.
    case save(PartSaver, Bytes)
    case endSaving(PartSaver, isComplete: Bool)
}
