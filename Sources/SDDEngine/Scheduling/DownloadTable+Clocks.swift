import SDDBase
import SDDTransport

extension DownloadTable {
    /// Ends requests whose time has run out, and continues jobs whose pause is over.
    mutating func clocksLookedAt(at now: Int64) {
        while let deadline = deadlines.popExpired(at: now) {
            expired(deadline, at: now)
        }
        pausesLookedAt(at: now)
        if slots.graceEnded(at: now) { graceEnded(at: now) }
    }

    private mutating func expired(_ deadline: Deadlines<RequestLimit>.Deadline, at now: Int64) {
        switch deadline.kind {
        case .queue:
            guard let (job, handler) = handler(of: deadline.token), job.isToBeStarted(for: handler),
                // Otherwise the deadline belongs to an earlier stage of the same load.
                handler.queueLimit > 0, deadline.time - handler.submitted >= handler.queueLimit
            else { return }
            leave(deadline.token, error: .timeout(.timeoutQueue), at: now)
        case .total:
            leave(deadline.token, error: .timeout(.timeoutTotal), at: now)
        }
    }

    /// Cancels transfers that continued in the background; paused transfers stay paused.
    private mutating func graceEnded(at now: Int64) {
        for job in slots.onNetwork where !job.isPaused {
            abandon(job, error: .cancelledBackground, at: now)
            for handler in job.handlers { end(handler, of: job, error: .cancelledBackground, at: now) }
            job.handlers.removeAll()
        }
    }
}
