import SDDBase

@testable import SDDEngine

extension NaiveTable {
    mutating func submit(_ wish: Wish) {
        statistics.requests += 1
        if isClosing { return end(wish.token, .invalidOperation, .closed) }
        if let share = wish.share, let index = jobs.firstIndex(where: { $0.share == share }) {
            statistics.joined += 1
            guard join(index, wish) else { return }
        } else {
            let id = newID()
            if wish.asks { asked.append(id) }
            jobs.append(
                Job(
                    id: id, share: wish.share, work: wish.work, host: wish.host, handlers: [wish],
                    stage: wish.asks ? .asking : .waiting, arrival: arrival(), age: now,
                    asks: wish.asks, needsWork: wish.work != .none))
        }
        if wish.queueLimit > 0 { addDeadline(wish.token, after: wish.queueLimit, isQueue: true) }
        if wish.totalLimit > 0 { addDeadline(wish.token, after: wish.totalLimit, isQueue: false) }
        fill()
    }

    private mutating func addDeadline(_ token: UInt64, after limit: Int64, isQueue: Bool) {
        deadlines.append(Deadline(time: now + limit, token: token, isQueue: isQueue))
    }

    /// - Returns: Whether the new request has to wait.
    private mutating func join(_ index: Int, _ wish: Wish) -> Bool {
        let job = jobs[index]
        if let verdict = job.verdict, let error = Self.refusal(of: verdict, by: wish.accepts) {
            end(wish.token, error)
            return false
        }
        if job.hasBody, !job.needsWork, !wish.wantsPixels {
            end(End(token: wish.token, hasBytes: true))
            return false
        }
        var wish = wish
        wish.attemptsBefore = job.isStarted ? job.attempts - 1 : job.attempts
        jobs[index].handlers.append(wish)
        priorityChanged(index, from: job.priority)
        updatePause(index)
        return true
    }

    /// - Returns: Whether the transfer has ended with it; nil for a token of no request.
    mutating func cancel(_ token: UInt64) -> Bool? {
        guard let index = index(waitedForBy: token) else { return nil }
        let isLast = jobs[index].handlers.count == 1
        leave(index, token, .cancelled, Self.detail(of: jobs[index].stage))
        return isLast
    }

    private mutating func leave(
        _ index: Int, _ token: UInt64, _ error: DownloadError.Code, _ detail: DownloadError.Detail
    ) {
        let before = jobs[index].priority
        jobs[index].handlers.removeAll { $0.token == token }
        if jobs[index].handlers.isEmpty {
            if jobs[index].stage == .running { commands.append(.cancel(jobs[index].id)) }
            jobs.remove(at: index)
        } else {
            priorityChanged(index, from: before)
            updatePause(index)
        }
        end(token, error, detail)
        fill()
    }

    mutating func cancelAll() {
        while let first = jobs.indices.min(by: { jobs[$0].id < jobs[$1].id }) { cancelJob(at: first) }
    }

    mutating func setPriority(_ priority: Priority, of token: UInt64) -> Bool {
        guard let index = index(waitedForBy: token),
            let handler = jobs[index].handlers.firstIndex(where: { $0.token == token })
        else { return false }
        let before = jobs[index].priority
        jobs[index].handlers[handler].priority = priority
        priorityChanged(index, from: before)
        fill()
        return true
    }

    // MARK: - Background and clocks

    mutating func enterBackground(grace: Int64) {
        background = .grace(until: grace < 0 ? .max : now + grace)
        for index in jobs.indices { updatePause(index) }
        lookAtClocks()
    }

    mutating func enterForeground() {
        background = .no
        let paused = jobs.filter(\.isPaused)
        for job in paused.sorted(by: { ($1.priority, $0.id) < ($0.priority, $1.id) }) {
            if let index = index(of: job.id) { updatePause(index) }
        }
        fill()
    }

    mutating func lookAtClocks() {
        for deadline in deadlines.filter({ $0.time <= now }).sorted(by: { $0.time < $1.time }) {
            guard let index = index(waitedForBy: deadline.token) else { continue }
            if !deadline.isQueue {
                leave(index, deadline.token, .timeout, .timeoutTotal)
            } else if isToBeStarted(index, deadline.token) {
                leave(index, deadline.token, .timeout, .timeoutQueue)
            }
        }
        deadlines.removeAll { $0.time <= now }
        endPauses()
        guard case .grace(let until) = background, until <= now else { return }
        background = .over
        while let index = jobs.firstIndex(where: { $0.stage == .running && !$0.isPaused }) {
            cancelJob(at: index, .cancelledBackground)
        }
    }

    var nextDeadline: Int64 {
        let rest = jobs(in: .waiting).isEmpty ? nil : rests.map { $0.start + minHostInterval }.min()
        let times = deadlines.map(\.time) + jobs(in: .pausing).map(\.pauseEnd) + (rest.map { [$0] } ?? [])
        let soonest = times.min() ?? .max
        if case .grace(let until) = background { return min(soonest, until) }
        return soonest
    }
}
