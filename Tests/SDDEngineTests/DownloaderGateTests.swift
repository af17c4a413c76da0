import Testing

@testable import SDDEngine

/// The admission of loads, and their counts.
@Suite struct DownloaderGateTests {
    private let gate = DownloaderGate()

    @Test func aLoadIsAdmittedUntilRequestsAreRefused() {
        #expect(gate.admitsLoad() && !gate.has(.draining))
        gate.close(.draining)
        #expect(!gate.admitsLoad() && gate.has(.draining) && !gate.has(.cancelling))
        gate.close(.closed)
        #expect(gate.has(.cancelling) && gate.has(.closed))
        // It never opens again.
        gate.close(.draining)
        #expect(gate.has(.closed))
    }

    @Test func loadsAreAddedToTheCountsOfOtherRequests() {
        // given
        var statistics = Statistics()
        (statistics.requests, statistics.failed) = (10, 1)
        for _ in 0..<4 { _ = gate.admitsLoad() }
        // when
        for error in [nil, nil, DownloadError.lost, .cancelledSending] { gate.loadEnded(error) }
        gate.count(into: &statistics)
        // then
        #expect(statistics.requests == 14 && statistics.succeeded == 2)
        #expect(statistics.failed == 2 && statistics.cancelled == 1)
    }
}
