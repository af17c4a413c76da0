import SDDBase
import SDDCoders
import SDDTransport

/// Complete bodies that wait for decode memory, and progressive decodes whose memory is taken back for them.
extension DownloadTable {
    mutating func promptJobsChanged(by count: Int) {
        decoding.promptJobsChanged(by: count)
        updateHold()
    }

    /// Pauses or resumes transfers after a change of the bytes that wait for decode threads.
    mutating func updateHold() {
        guard decoding.updateHold() else { return }
        for job in slots.onNetwork { updatePause(job) }
    }

    /// Makes a job prompt when a caller joins it that may be blocked until its end.
    mutating func makePrompt(_ job: Job<Recipient>, at now: Int64) {
        if job.isPrompt { return }
        job.isPrompt = true
        switch job.stage {
        case .waiting(let place):
            slots.remove(place)
            wait(job, at: now)
        case .received: decoding.becamePrompt(job)
        case .lacking(let place):
            decoding.becamePrompt(job)
            job.stage = .lacking(decoding.moveLacking(place, of: job))
            // Another job may be first in line now.
            outbox.addWork()
        case .asking, .claiming, .running, .working, .pausing: break
        }
        promptJobsChanged(by: 1)
    }

    // MARK: - Complete bodies

    /// Makes a job wait for memory, because a decode thread found none for its image.
    mutating func lineUp(_ job: Job<Recipient>) {
        // Handlers that did not want the image have already ended.
        if job.handlers.isEmpty { return remove(job) }
        job.priority = job.wantedPriority
        job.stage = .lacking(decoding.appendLacking(job))
        giveUpClaim(of: job)
        updateHold()
        // Memory may have become free meanwhile, before anything asked for it.
        outbox.addWork()
    }

    /// Removes and returns the first job of a line for which there is enough memory now, with the memory.
    mutating func nextWithRoom() -> (Job<Recipient>, any MemoryReserved)? {
        guard decoding.lacksRoom else { return nil }
        for isPrompt in [true, false] {
            guard let number = decoding.firstLacking(isPrompt: isPrompt), let job = jobs[number],
                case .lacking(let place) = job.stage,
                let granted = decoding.takeRoom(isPrompt: isPrompt, for: job.roomNeeded)
            else { continue }
            decoding.gotRoom(place)
            // There may be memory for the next job, too.
            if decoding.lacksRoom { outbox.addWork() }
            return (job, granted)
        }
        return nil
    }

    // MARK: - Arriving bodies

    /// Takes memory back from progressive decodes, because complete bodies wait for it. Their bodies are decoded when
    /// they are complete.
    mutating func takeRoomBack() {
        for number in decoding.streamNumbers {
            guard let job = jobs[number], let progressive = job.progressive else { continue }
            if progressive.isWorking {
                progressive.isTakenBack = true
            } else if progressive.stream?.holdsRoom == true {
                takeRoomBack(of: job, progressive)
            }
        }
    }

    /// Takes the memory of one progressive decode back. Previews may start again once twice as much of the body has
    /// arrived, which limits the bytes decoded again to the bytes of the body.
    mutating func takeRoomBack(of job: Job<Recipient>, _ progressive: Job<Recipient>.ProgressiveDecode) {
        progressive.isTakenBack = false
        progressive.beginsAgain = max(1, progressive.body?.count ?? progressive.read).multipliedSaturating(by: 2)
        endProgressive(of: job)
        progressive.body = nil
    }
}

extension Int {
    fileprivate func multipliedSaturating(by factor: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? .max : product
    }
}

extension Job {
    /// True if no progressive decode runs for this job and one may be started.
    var mayDecodeProgressively: Bool {
        guard let progressive else { return true }
        return progressive.isIdle
            || progressive.stream == nil && progressive.beginsAgain > 0 && received >= Int64(progressive.beginsAgain)
    }
}
