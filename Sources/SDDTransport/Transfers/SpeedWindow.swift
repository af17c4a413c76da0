/// The limit on slow transfers: each time window must bring a minimum number of bytes. It is checked once per window,
/// so it costs nothing while bytes arrive. Times are microseconds of a clock that never jumps. A value, part of a transfer's
/// clocks.
package struct SpeedWindow {
    /// Bytes that a window must bring; 0 means no limit.
    private let needed: Int64
    /// The length of a window.
    package let length: Int64
    /// The time at which the window began; `nil` while nothing is expected from the peer.
    private var start: Int64?
    /// The byte count at the time the window began.
    private var before: Int64 = 0

    package init(_ limits: TransferClocks) {
        let (length, isTooLong) = limits.slowness.multipliedReportingOverflow(by: 1000)
        let (product, isTooMuch) = limits.slowness.multipliedReportingOverflow(by: limits.leastBytesPerSecond)
        let isOff = limits.slowness <= 0 || limits.leastBytesPerSecond <= 0 || isTooLong
        self.length = isOff ? 0 : length
        // At least one byte is needed, even if the window is a fraction of a second.
        needed = isOff ? 0 : isTooMuch ? .max : max(1, product / 1000)
    }

    /// Begins a window now.
    package mutating func begin(at now: Int64, moved: Int64) {
        guard needed > 0 else { return }
        start = now
        before = moved
    }

    /// Begins a window now, unless one is open. Bytes count from the count given to `end`, 0 at first.
    package mutating func goOn(at now: Int64) {
        if start == nil, needed > 0 { start = now }
    }

    /// Ends the window: nothing is expected until the next one.
    package mutating func end(moved: Int64) {
        start = nil
        before = moved
    }

    /// Extends the window by the part of it in which the library held the transfer back.
    package mutating func rested(since begin: Int64, until now: Int64) {
        if let start { self.start = start + now - max(start, begin) }
    }

    /// The end of the window; `Int64.max` means never.
    package var nextLook: Int64 {
        guard let start else { return .max }
        let (end, overflow) = start.addingReportingOverflow(length)
        return overflow ? .max : end
    }

    /// Whether a window has ended with too few bytes. If it has ended with enough, the next one begins.
    package mutating func isTooSlow(at now: Int64, moved: () -> Int64) -> Bool {
        guard now >= nextLook else { return false }
        let count = moved()
        if count - before < needed { return true }
        begin(at: now, moved: count)
        return false
    }
}
