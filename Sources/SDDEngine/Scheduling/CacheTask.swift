import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport

/// Cache work that the table decides on and that is done without its lock.
enum CacheTask: Sendable {
    case ask(TransferID, any CacheLookup, LookupContext)
    /// Makes the reads of a question that has no answer yet more urgent.
    case raise(any CacheLookup, DiskRead, Priority)
    /// Asks for the claim to download, for a request whose turn has come.
    case claim(TransferID, HTTPLookupJob)
    /// Waits for the entry that another process stores, or for the end of its download.
    case awaitOther(TransferID, HTTPLookupJob)
    case keep(PictureKeeper, Image)
    case keepPixels(PictureKeeper, Image, Response?, HTTPFields)
    case keepOriginal(OriginalKeeper, Original)
    /// Ends a mark, after the writes to a disk that were queued before.
    case unmark(DownloadMark, DiskCache?)
    /// Carries out the decision on a response: store, freshen or invalidate.
    case apply(Revalidation, Revalidation.Outcome)
    /// Sends a request without a caller.
    case revalidate(DownloadRequest)
    /// Saves more of a body, in case the transfer is interrupted.
    case save(PartSaver, Bytes)
    case endSaving(PartSaver, isComplete: Bool)
}
