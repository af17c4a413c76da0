package import SDDBase
import SDDTransport

/// What is known of a request under way.
package struct RequestInformation: Sendable {
    /// SDD_STATE_ of the header.
    package enum State: Int32, Sendable {
        case waiting = 1
        case running, received, decoding
    }

    package let state: State
    package let url: String
    package let priority: Priority
    package let effectivePriority: Priority
    package let response: Response?
    package let receivedBytes: Int64
    package let expectedBytes: Int64
    package let waitingMicroseconds: Int64
    package let runningMicroseconds: Int64

    init?<Recipient>(_ job: Job<Recipient>, token: UInt64, at now: Int64) {
        guard let handler = job.handlers.first(where: { $0.token == token }) else { return nil }
        state =
            switch job.stage {
            case .asking, .waiting, .pausing: .waiting
            case .running: .running
            case .received: .received
            case .working: .decoding
            }
        url = job.request.url.text
        priority = handler.priority
        effectivePriority = job.priority
        response = job.response
        receivedBytes = job.received
        expectedBytes = job.body.map { Int64($0.count) } ?? job.head?.expectedBytes ?? -1
        waitingMicroseconds = job.started > 0 ? max(0, job.started - handler.submitted) : now - handler.submitted
        runningMicroseconds = job.started > 0 ? (job.finished > 0 ? job.finished : now) - job.started : 0
    }
}
