extension RequestInformation {
    /// Describes a load between two requests: its image is being looked for in memory, transformed or stored.
    init(_ load: Load, at now: Int64) {
        state = load.made > 0 ? .decoding : .waiting
        url = load.plan.sources.first?.url
        priority = load.priority
        effectivePriority = load.priority
        response = load.result?.response
        receivedBytes = load.result?.metrics.bodyBytes ?? 0
        expectedBytes = -1
        waitingMicroseconds = load.made > 0 ? load.made - load.submitted : now - load.submitted
        runningMicroseconds = 0
    }
}
