import SDDBase
import Testing

@testable import SDDTransport

/// TLS records that arrive slowly, told from silence.
@Suite struct ArrivingRecordTests {
    private static let second: Int64 = 1_000_000

    /// Asks `seconds` after the last delivery about a connection that has received `received` bytes, the last of them
    /// `silent` seconds ago.
    private func ask(
        _ record: inout ArrivingRecord, _ seconds: Int64, received: Int64, silent: Int64, delivered: Int64 = 0,
        window: Int64? = nil
    ) -> Int64? {
        let arrivals = SocketCounts.Arrivals(received: received, silentMicroseconds: silent * Self.second)
        let last = record.lastByte(
            arrivals, since: 0, delivered: delivered, leastBytesPerSecond: 100, window: window.map { $0 * Self.second },
            at: seconds * Self.second)
        return last.map { $0 / Self.second }
    }

    @Test func bytesSinceTheLastDeliveryAreNoSilence() {
        var record = ArrivingRecord(before: 0)
        #expect(ask(&record, 15, received: 5000, silent: 2) == 13)
        #expect(ask(&record, 28, received: 5000 + 1300, silent: 1) == 27)
    }

    @Test func silenceIsSilence() {
        var record = ArrivingRecord(before: 0)
        #expect(ask(&record, 15, received: 5000, silent: 15) == nil)
        #expect(ask(&record, 15, received: 5000, silent: 20) == nil)
    }

    /// Whoever sends a byte now and then is silent.
    @Test func aRecordHasALeastSpeed() {
        var record = ArrivingRecord(before: 0)
        #expect(ask(&record, 15, received: 5000, silent: 1) == 14)
        #expect(ask(&record, 25, received: 5000 + 999, silent: 1) == nil)
        #expect(ask(&record, 25, received: 5000 + 1000, silent: 1) == 24)
    }

    /// Whoever sends a few bytes and the beginning of a record, again and again, is slow.
    @Test func aSlowWindowNeedsARecordOfLongStanding() {
        var record = ArrivingRecord(before: 0)
        #expect(ask(&record, 60, received: 5000, silent: 1, window: 60) == nil)
        #expect(ask(&record, 61, received: 5000, silent: 1) == 60)
        #expect(ask(&record, 90, received: 5000 + 5999, silent: 1, window: 60) == nil)
        #expect(ask(&record, 90, received: 5000 + 6000, silent: 1, window: 60) == 89)
    }

    /// More than a record that nothing is delivered of is something else, such as frames of HTTP/2 without content.
    @Test func aRecordHasAnEnd() {
        var record = ArrivingRecord(before: 0)
        #expect(ask(&record, 15, received: 5000, silent: 1) == 14)
        #expect(ask(&record, 16, received: 5000 + ArrivingRecord.most, silent: 0) == 16)
        #expect(ask(&record, 17, received: 5001 + ArrivingRecord.most, silent: 0) == nil)
    }

    /// Much that was not delivered is no record either, nor is anything if it is not known how much that is.
    @Test func aFloodIsNoRecord() {
        var record = ArrivingRecord(before: 0)
        var unknown = ArrivingRecord()
        #expect(ask(&record, 15, received: ArrivingRecord.most + 1, silent: 0) == nil)
        #expect(ask(&record, 15, received: ArrivingRecord.most + 1_070_000, silent: 0, delivered: 1_000_000) == nil)
        #expect(ask(&unknown, 15, received: 5000, silent: 0) == nil)
        #expect(ask(&record, 15, received: ArrivingRecord.most + 1_020_000, silent: 0, delivered: 1_000_000) == 15)
    }

    @Test func survivesTheLargestNumbers() {
        var record = ArrivingRecord(before: .max)
        let arrivals = SocketCounts.Arrivals(received: .max, silentMicroseconds: 0)
        #expect(
            record.lastByte(arrivals, since: 0, delivered: 0, leastBytesPerSecond: .max, window: nil, at: .max) == .max)
        #expect(
            record.lastByte(arrivals, since: 0, delivered: 0, leastBytesPerSecond: .max, window: nil, at: .max) == .max)
        var other = ArrivingRecord(before: .max)
        _ = other.lastByte(arrivals, since: 0, delivered: 0, leastBytesPerSecond: .max, window: nil, at: Self.second)
        #expect(
            other.lastByte(arrivals, since: 0, delivered: 0, leastBytesPerSecond: .max, window: nil, at: .max) == nil)
        #expect(
            other.lastByte(arrivals, since: 0, delivered: 0, leastBytesPerSecond: .max, window: .max, at: .max) == nil)
    }
}
