/// The limit on slowness: so many bytes at least in each window of so long. It is looked at once a window, so that it
/// costs a transfer nothing while bytes come. Microseconds of a clock that never jumps. A value.
package struct SpeedWindow {
    /// Bytes that a window must bring; 0: no limit.
    private let needed: Int64
    private let length: Int64
    /// nil while nothing is to be expected of the other end.
    private var start: Int64?
    /// The count when the window began.
    private var before: Int64 = 0

    package init(_ limits: TransferClocks) {
        let (length, isTooLong) = limits.slowness.multipliedReportingOverflow(by: 1000)
        let (product, isTooMuch) = limits.slowness.multipliedReportingOverflow(by: limits.leastBytesPerSecond)
        let isOff = limits.slowness <= 0 || limits.leastBytesPerSecond <= 0 || isTooLong
        self.length = isOff ? 0 : length
        // At least one byte, also where the window is a fraction of a second.
        needed = isOff ? 0 : isTooMuch ? .max : max(1, product / 1000)
    }

    /// The first window begins now.
    package mutating func begin(at now: Int64, moved: Int64) {
        guard needed > 0 else { return }
        start = now
        before = moved
    }

    /// The first window begins now, unless one is open: bytes count from where the last one ended.
    package mutating func goOn(at now: Int64) {
        if start == nil, needed > 0 { start = now }
    }

    package mutating func end(moved: Int64) {
        start = nil
        before = moved
    }

    /// The library has held the transfer back for so long.
    package mutating func rested(_ duration: Int64) {
        if let start { self.start = start + duration }
    }

    /// When the window ends; `Int64.max` for never.
    package var nextLook: Int64 {
        guard let start else { return .max }
        let (end, overflow) = start.addingReportingOverflow(length)
        return overflow ? .max : end
    }

    /// Whether a window has ended with too little. Another one begins else.
    package mutating func isTooSlow(at now: Int64, moved: () -> Int64) -> Bool {
        guard now >= nextLook else { return false }
        let count = moved()
        if count - before < needed { return true }
        begin(at: now, moved: count)
        return false
    }
}
