import SDDBase
import SDDTransport

extension RequestInformation {
    /// Describes a load between two requests: its image is being looked for in memory, transformed or stored.
    init(_ load: Load, at now: Int64) {
        state = load.made > 0 ? .decoding : .waiting
        let source = load.plan.sources.first
        url = (try? source?.request.get())?.transfer.url.text ?? source?.url
        priority = load.priority
        effectivePriority = load.priority
        response = load.result?.response
        receivedBytes = load.result?.metrics.bodyBytes ?? 0
        expectedBytes = -1
        waitingMicroseconds = load.made > 0 ? load.made - load.submitted : now - load.submitted
        runningMicroseconds = 0
    }
}
