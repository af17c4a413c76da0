import SDDBase
import SDDCoders
import SDDTransport

/// The end of a downloader: by its closing, by its destruction, and by the exit of the process.
extension Downloader {
    /// Stops accepting requests. Existing requests are cancelled, or run to their normal end.
    package func close(cancels: Bool) {
        gate.close(cancels ? .cancelling : .draining)
        change { table, now in table.closing(cancels: cancels, at: now) }
        if cancels { loaders.cancelAll() }
    }

    /// Ends every request, delivers all outstanding events, and ends the threads. Waits until that is done, unless
    /// called inside a callback, or on a network or decode thread; then it happens after that has returned. Must be
    /// called once.
    package func destroy() {
        gate.close(.closed)
        change { table, now in table.closed(at: now) }
        loaders.cancelAll()
        transport.stop()
        let pool = decoders.withLock { $0 }
        guard transport.isOwnThread || pool?.isOwnThread == true else {
            pool?.stop()
            return delivery.finish { joinThreads() }
        }
        // A thread cannot wait for itself. The callback thread joins the others; without one, the last decode thread
        // does.
        guard isAppDriven else {
            pool?.stop()
            return delivery.finishWithoutWaiting()
        }
        pool?.stop { [self] in delivery.finish { joinThreads() } }
    }

    /// Ends the network thread before the process exits: libcurl and OpenSSL must not be in use when their exit
    /// handlers free the data that threads share. No callbacks are owed any more. Waits for a limited time.
    package func endNetworkForExit(milliseconds: Int64) {
        transport.stop()
        transport.join(milliseconds: milliseconds)
    }

    /// Joins the downloader's threads. Called once, on a thread that is not one of them, or on the last decode thread.
    func joinThreads() {
        transport.join()
        appTransfers.cancelAll()
        endDecoders()
        coders.removeAll()
        let kept = kept.withLock { kept in
            defer { kept = nil }
            return kept
        }
        // Release the object without the lock, because this may be its last reference.
        withExtendedLifetime(kept) {}
    }

    /// Keeps an object of the application until all threads have ended.
    package func keepUntilTheEnd(_ object: AnyObject) { kept.withLock { $0 = object } }

    func endDecoders() {
        let pool = decoders.withLock { pool in
            defer { pool = nil }
            return pool
        }
        pool?.stop()
        pool?.join()
        registry.closeHelpers()
    }
}
