import SDDBase

/// Tells a TLS record that is still arriving from silence. A record has up to 16 KiB (RFC 8446 §5.1), and libcurl
/// delivers nothing of it before its last byte has come, which on a slow line takes longer than the limit on silence.
/// Asked only when a limit has expired. Times are microseconds of a clock that never jumps. A value; it knows no clock.
struct ArrivingRecord {
    private struct Start {
        let received: Int64
        let time: Int64
    }

    /// The record, and small ones around it, such as session tickets.
    static let most: Int64 = 18 << 10

    /// The kernel tells times in its ticks of up to 10 ms.
    private static let tick: Int64 = 10_000

    /// Bytes that the connection had received when the request was sent; `nil` if that is not known.
    private let before: Int64?
    /// Since a limit first expired without a delivery in between; `nil` before.
    private var start: Start?

    init(before: Int64? = nil) { self.before = before }

    /// Records that libcurl has delivered something.
    mutating func delivered() { start = nil }

    /// Judges what has arrived.
    /// - Parameters:
    ///   - last: The time of the last delivery.
    ///   - delivered: Bytes that were delivered since the request was sent.
    ///   - leastBytesPerSecond: The speed below which the record counts as silence.
    ///   - window: The length of a window of the limit on slowness that has ended; `nil` if the limit on silence has
    ///     expired. Of a window only what has come since the record was first asked about counts.
    /// - Returns: The time of the last byte; `nil` for silence.
    mutating func lastByte(
        _ arrivals: SocketCounts.Arrivals, since last: Int64, delivered: Int64, leastBytesPerSecond: Int64,
        window: Int64?, at now: Int64
    ) -> Int64? {
        let latest = now - arrivals.silentMicroseconds
        guard latest > last + Self.tick else { return nil }
        guard let start else {
            // A sixteenth is more than TLS adds to the bytes that it carries. Much more is no record, but a flood.
            guard window == nil, let before, arrivals.received - before - delivered - delivered / 16 <= Self.most else {
                return nil
            }
            start = Start(received: arrivals.received, time: now)
            return latest
        }
        let count = arrivals.received - start.received
        let time = window ?? now - start.time
        let (needed, overflow) = leastBytesPerSecond.multipliedReportingOverflow(by: time / 1000)
        return count <= Self.most && !overflow && count >= needed / 1000 ? latest : nil
    }
}
