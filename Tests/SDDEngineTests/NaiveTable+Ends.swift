import SDDBase

@testable import SDDEngine

extension NaiveTable {
    mutating func end(_ token: UInt64, _ error: DownloadError.Code? = nil, _ detail: DownloadError.Detail = .none) {
        end(End(token: token, error: error, detail: detail))
    }

    mutating func end(_ end: End) {
        switch end.error {
        case nil: statistics.succeeded += 1
        case .cancelled?: statistics.cancelled += 1
        default: statistics.failed += 1
        }
        ends.append(end)
        deadlines.removeAll { $0.token == end.token }
    }

    /// Ends all requests of a job with the same error, and the job with them.
    mutating func endJob(at index: Int, _ error: DownloadError.Code, _ detail: DownloadError.Detail = .none) {
        let job = jobs.remove(at: index)
        for handler in job.handlers { end(handler.token, error, detail) }
    }

    /// Cancels a job at any stage.
    mutating func cancelJob(at index: Int, _ detail: DownloadError.Detail? = nil) {
        if jobs[index].stage == .running { commands.append(.cancel(jobs[index].id)) }
        endJob(at: index, .cancelled, detail ?? Self.detail(of: jobs[index].stage))
    }

    static func detail(of stage: Stage) -> DownloadError.Detail {
        switch stage {
        case .asking: .cancelledCache
        case .waiting, .pausing: .cancelledWaiting
        case .running: .cancelledSending
        case .received, .working: .cancelledDecoding
        }
    }

    /// Ends the requests that do not accept the response. The job stays, even without requests.
    mutating func judge(_ index: Int, _ verdict: Verdict) {
        let before = jobs[index].priority
        jobs[index].verdict = verdict
        for handler in jobs[index].handlers {
            guard let error = Self.refusal(of: verdict, by: handler.accepts) else { continue }
            jobs[index].handlers.removeAll { $0.token == handler.token }
            if jobs[index].handlers.isEmpty, jobs[index].stage == .running { commands.append(.cancel(jobs[index].id)) }
            end(handler.token, error)
        }
        guard !jobs[index].handlers.isEmpty else { return }
        priorityChanged(index, from: before)
        updatePause(index)
    }

    static func refusal(of verdict: Verdict, by accepts: Accepts) -> DownloadError.Code? {
        if verdict.status == 304 { return .notModified }
        let takesStatus =
            switch accepts {
            case .standard, .images: verdict.status == 0 || (200...299).contains(verdict.status)
            case .everything: true
            case .notFound: verdict.status == 0 || verdict.status == 404
            }
        if !takesStatus { return .invalidStatusCode }
        if accepts == .images, !verdict.type.hasPrefix("image/") { return .invalidContentType }
        return nil
    }
}
