package import SDDBase
import SDDTransport

/// The current state of a request.
package struct RequestInformation: Sendable {
    /// The header's SDD_STATE_ constants.
    package enum State: Int32, Sendable {
        case waiting = 1
        case running, received, decoding
    }

    package let state: State
    /// `nil` for a list of URLs.
    package let url: String?
    package let priority: Priority
    package let effectivePriority: Priority
    package let response: Response?
    package let receivedBytes: Int64
    package let expectedBytes: Int64
    package let waitingMicroseconds: Int64
    package let runningMicroseconds: Int64

    init<Recipient>(_ job: Job<Recipient>, _ handler: Job<Recipient>.Handler, at now: Int64) {
        state =
            switch job.stage {
            case .asking, .waiting, .claiming, .pausing: .waiting
            case .running: .running
            case .received, .lacking: .received
            case .working: .decoding
            }
        url = job.request.url.text
        priority = handler.priority
        effectivePriority = job.priority
        response = job.shownResponse
        receivedBytes = job.received
        expectedBytes = job.body.map { Int64($0.count) } ?? job.head?.expectedBytes ?? -1
        waitingMicroseconds = job.started > 0 ? max(0, job.started - handler.submitted) : now - handler.submitted
        runningMicroseconds = job.started > 0 ? (job.finished > 0 ? job.finished : now) - job.started : 0
    }

    /// Describes a list to prefetch.
    init(listOf priority: Priority) {
        state = .running
        url = nil
        self.priority = priority
        effectivePriority = priority
        response = nil
        receivedBytes = 0
        expectedBytes = -1
        waitingMicroseconds = 0
        runningMicroseconds = 0
    }
}
