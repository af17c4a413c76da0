import SDDBase
import SDDTransport

extension DownloadTable {
    /// Ends what has no time left, and lets those go on whose pause is over.
    mutating func clocksLookedAt(at now: Int64, _ effects: inout [Effect]) {
        while let deadline = deadlines.popExpired(at: now) {
            expired(deadline, at: now, &effects)
        }
        pausesLookedAt(at: now)
        if case .grace(let until) = background, until <= now { graceEnded(at: now, &effects) }
    }

    private mutating func expired(_ deadline: Deadlines.Deadline, at now: Int64, _ effects: inout [Effect]) {
        switch deadline.kind {
        case .queue:
            guard let (job, handler) = handler(of: deadline.token), job.isToBeStarted(for: handler),
                // Else it is that of a stage before, of the same load.
                handler.queueLimit > 0, deadline.time - handler.submitted >= handler.queueLimit
            else { return }
            leave(deadline.token, error: .timeout(.timeoutQueue), at: now, &effects)
        case .total:
            leave(deadline.token, error: .timeout(.timeoutTotal), at: now, &effects)
        // They are among `pauses`.
        case .pause: break
        }
    }

    /// What went on in the background is cancelled; what is paused stays so.
    private mutating func graceEnded(at now: Int64, _ effects: inout [Effect]) {
        background = .over
        for job in runners.sortedValues where !job.isPaused {
            abandon(job, error: .cancelledBackground, at: now, &effects)
            for handler in job.handlers { end(handler, of: job, error: .cancelledBackground, at: now, &effects) }
            job.handlers.removeAll()
        }
    }
}
