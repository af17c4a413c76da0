import SDDBase
import SDDTransport

@testable import SDDEngine

extension NaiveTable {
    /// - Returns: The commands since the last call, and the time of the next one.
    mutating func transportAsks() -> (commands: [Order], deadline: Int64) {
        lookAtClocks()
        fill()
        defer { commands = [] }
        promised = nextDeadline
        return (commands, promised)
    }

    mutating func respond(_ id: UInt64, _ verdict: Verdict) {
        guard let index = index(of: id), jobs[index].stage == .running else { return }
        jobs[index].hasResponded = true
        // A response that a modifier may change is judged later.
        if jobs[index].work == .modifier { return }
        if retries(index, after: { Self.failure(of: verdict, for: $0) }) { return fill() }
        judge(index, verdict)
        guard jobs[index].handlers.isEmpty else { return }
        jobs.remove(at: index)
        fill()
    }

    mutating func fail(_ id: UInt64) {
        guard let index = index(of: id), jobs[index].stage == .running else { return }
        countCost()
        if !retries(index, after: { _ in (.connectionLost, true) }) { endJob(at: index, .connectionLost) }
        fill()
    }

    /// - Parameter status: The status of the response; nil if there was none.
    mutating func arrive(_ id: UInt64, size: Int, status: Int32?) {
        guard let index = index(of: id), jobs[index].stage == .running else { return }
        countCost()
        statistics.transfersSucceeded += 1
        statistics.bodyBytes += Int64(size)
        if (status ?? 0) < 400 { succeeded(at: jobs[index].host) }
        bodyIsThere(index, size: size)
        fill()
    }

    mutating func bodyIsThere(_ index: Int, size: Int) {
        jobs[index].hasBody = true
        jobs[index].size = size
        if jobs[index].needsWork { waitForDecoder(index) } else { handOut(index) }
    }

    mutating func receive(_ id: UInt64, _ count: Int64) {
        if let index = index(of: id) { jobs[index].received = count }
    }

    private mutating func countCost() {
        statistics.connectionsOpened += Int64(Driver.metrics.connectionsOpened)
        statistics.requestBytes += Driver.metrics.requestBytes
        statistics.headerBytes += Driver.metrics.headerBytes
        statistics.wireBodyBytes += Driver.metrics.bodyBytes
    }

    private mutating func waitForDecoder(_ index: Int) {
        jobs[index].stage = .received
        jobs[index].arrival = arrival()
        newWork += 1
    }

    /// Ends the requests for bytes; those for pixels wait.
    private mutating func handOut(_ index: Int) {
        let job = jobs[index]
        for handler in job.handlers where !handler.wantsPixels { end(End(token: handler.token, hasBytes: true)) }
        jobs[index].handlers.removeAll { !$0.wantsPixels }
        if jobs[index].handlers.isEmpty {
            jobs.remove(at: index)
        } else {
            waitForDecoder(index)
        }
    }

    // MARK: - Decoding

    /// Gives work to an idle decode thread.
    /// - Returns: The transfer whose body it gets, and whether the application's own work must be done on it.
    mutating func decoderAsks() -> (id: UInt64, isAppWork: Bool)? {
        let waiting = jobs.indices.filter { jobs[$0].stage == .received }
        let next = waiting.min { a, b in
            (jobs[b].priority, jobs[a].arrival) < (jobs[a].priority, jobs[b].arrival)
        }
        guard let next else { return nil }
        jobs[next].stage = .working
        jobs[next].workBegan = now
        jobs[next].decoding = jobs[next].handlers.filter(\.wantsPixels).map(\.format)
        let answer = (jobs[next].id, jobs[next].needsWork)
        fill()
        return answer
    }

    enum Outcome {
        case refused, nothing(Verdict), done(Verdict, size: Int)

        var verdict: Verdict? {
            switch self {
            case .refused: nil
            case .nothing(let verdict), .done(let verdict, _): verdict
            }
        }
    }

    mutating func processed(_ id: UInt64, _ outcome: Outcome) {
        guard let index = index(of: id), jobs[index].stage == .working else { return }
        jobs[index].needsWork = false
        if let verdict = outcome.verdict, retries(index, after: { Self.failure(of: verdict, for: $0) }) {
            return fill()
        }
        switch outcome {
        case .refused: endJob(at: index, .invalidResponse)
        case .nothing(let verdict):
            judge(index, verdict)
            endJob(at: index, .badImageData, .imageTransform)
        case .done(let verdict, let size):
            judge(index, verdict)
            jobs[index].size = size
            handOut(index)
        }
        fill()
    }

    mutating func decoded(_ id: UInt64, succeeds: Bool) {
        guard let index = index(of: id), jobs[index].stage == .working else { return }
        statistics.decodeMicroseconds += now - jobs[index].workBegan
        if succeeds {
            statistics.imagesDecoded += 1
            let isServed = { [job = jobs[index]] (handler: Wish) in job.decoding.contains(handler.format) }
            for handler in jobs[index].handlers where isServed(handler) {
                end(End(token: handler.token, format: handler.format, hasBytes: true))
            }
            jobs[index].handlers.removeAll(where: isServed)
            if jobs[index].handlers.isEmpty { jobs.remove(at: index) } else { waitForDecoder(index) }
        } else {
            endJob(at: index, .badImageData, .imageCorrupt)
        }
        fill()
    }
}
