import SDDBase

/// Accepted requests on their way to the table, except those with a cache lookup. A submitting thread only adds to it, without the lock of the table; the
/// next thread that has that lock reports all of them to the table, in their order, before its own event. So no other
/// event of a request can come before its submission. Thread-safe.
final class SubmissionInbox: Sendable {
    enum Submission: Sendable {
        /// - Parameter time: of the submission, from which the request's limits count.
        case made(DownloadRequest, Listener, time: Int64)
        case plain(PlainRequest)
    }

    private let submissions = Monitor<[Submission]>([])

    /// - Returns: true if the inbox was empty, so that sdd-net must be woken to empty it.
    func add(_ submission: Submission) -> Bool {
        submissions.withLock { submissions in
            submissions.append(submission)
            return submissions.count == 1
        }
    }

    /// Called under the table's lock.
    func takeAll() -> [Submission] {
        submissions.withLock { submissions in
            if submissions.isEmpty { return [] }
            var taken: [Submission] = []
            swap(&taken, &submissions)
            return taken
        }
    }
}

extension DownloadTable<Listener> {
    mutating func submitted(_ submission: SubmissionInbox.Submission, at now: Int64) {
        switch submission {
        case .made(let request, let listener, let time):
            submitted(request, token: listener.token, listener: listener, since: time, at: now)
        case .plain(let plain): submitted(plain, at: now)
        }
    }
}
