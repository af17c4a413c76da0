import SDDBase
import SDDCoders
import SDDTransport

/// Bodies that are complete, and for whose pictures there is no room; and what they take back of arriving ones.
extension DownloadTable {
    /// The decoders have fallen behind, or have caught up.
    mutating func backlogChanged(by bytes: Int, for job: Job<Subscriber>) {
        backlog.add(bytes, isPrompt: job.isPrompt)
        updateHold()
    }

    mutating func promptJobsChanged(by count: Int) {
        backlog.promptJobs += count
        updateHold()
    }

    private mutating func updateHold() {
        guard backlog.update() else { return }
        for job in runners.sortedValues { updatePause(job) }
    }

    /// Somebody who may be blocked waits for it, too.
    mutating func makePrompt(_ job: Job<Subscriber>, at now: Int64) {
        if job.isPrompt { return }
        job.isPrompt = true
        switch job.stage {
        case .waiting(let place):
            waiting.remove(place)
            wait(job, at: now)
        case .received: backlog.becamePrompt(job.body?.count ?? 0)
        case .lacking(let place):
            backlog.becamePrompt(job.body?.count ?? 0)
            stopLacking(place)
            job.stage = .lacking(room.append(job.id, priority: job.priority, isPrompt: true))
        case .asking, .claiming, .running, .working, .pausing: break
        }
        promptJobsChanged(by: 1)
    }

    // MARK: - Complete bodies

    /// A decode thread has found that there is no room for the picture: the job waits until there is.
    mutating func lineUp(_ job: Job<Subscriber>, _ effects: inout [Effect]) {
        // Those who wanted anything but the picture have it.
        if job.handlers.isEmpty { return remove(job, &effects) }
        job.priority = job.wantedPriority
        job.stage = .lacking(room.append(job.id, priority: job.priority, isPrompt: job.isPrompt))
        backlogChanged(by: job.body?.count ?? 0, for: job)
        // There may be some meanwhile, and nobody has asked for it yet.
        newWork += 1
    }

    /// A job leaves its line without having got room. The next one may need less.
    mutating func stopLacking(_ place: RoomLines.Place) {
        room.remove(place)
        newWork += 1
    }

    /// The first job of a line for which there is room now; it is out of the line.
    mutating func nextWithRoom() -> (Job<Subscriber>, any MemoryReserved)? {
        if room.isEmpty { return nil }
        for isPrompt in [true, false] {
            guard let id = room.first(isPrompt: isPrompt, before: received.first?.rank), let job = jobs[id],
                case .lacking(let place) = job.stage,
                let granted = room.ask(isPrompt: isPrompt, for: job.roomNeeded)
            else { continue }
            room.remove(place)
            // There may be room for the next one, too.
            if !room.isEmpty { newWork += 1 }
            return (job, granted)
        }
        return nil
    }

    // MARK: - Arriving bodies

    /// Complete bodies wait for room: what arriving ones have is given back. They are decoded when they are complete.
    mutating func takeRoomBack(_ effects: inout [Effect]) {
        for number in streaming.sorted() {
            guard let job = jobs[number], let ahead = job.ahead else { continue }
            if ahead.isWorking {
                ahead.isTakenBack = true
            } else if ahead.stream?.holdsRoom == true {
                takeRoomBack(of: job, ahead, &effects)
            }
        }
    }

    /// Previews may come again when twice as much of the body is there: so what is read again comes to no more than what
    /// is read.
    mutating func takeRoomBack(
        of job: Job<Subscriber>, _ ahead: Job<Subscriber>.Ahead, _ effects: inout [Effect]
    ) {
        ahead.isTakenBack = false
        ahead.beginsAgain = max(1, ahead.body?.count ?? ahead.read).multipliedSaturating(by: 2)
        dropAhead(of: job, &effects)
        ahead.body = nil
    }
}

extension Int {
    fileprivate func multipliedSaturating(by factor: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? .max : product
    }
}

extension Job {
    /// Nothing is made of the body while it comes, and something may be.
    var mayReadAhead: Bool {
        guard let ahead else { return true }
        return ahead.isIdle || ahead.stream == nil && ahead.beginsAgain > 0 && received >= Int64(ahead.beginsAgain)
    }
}
