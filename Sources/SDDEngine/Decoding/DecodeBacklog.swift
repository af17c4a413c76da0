/// Counts encoded bytes that wait for a decode thread or for memory. A value owned by the table.
struct DecodeBacklog {
    /// Above this limit no new transfer is started: a network that is faster than the decoders must not fill the
    /// memory, and a slower one must not leave them idle.
    private static var limit: Int { 8 << 20 }
    /// Above this limit the decoders have work for the time in which a transfer begins. No more than `mostRunning`
    /// transfers then run at a time: with all of many slots in use, their bodies would come on top of `limit`.
    private static var enough: Int { 1 << 20 }
    private static var mostRunning: Int { 16 }
    /// Above this limit running transfers are paused, until the total has dropped to `limit` again.
    private static var most: Int { 64 << 20 }

    private(set) var total = 0
    /// The bytes of prompt jobs, which are also part of `total`.
    private(set) var prompt = 0
    /// Jobs that a thread may be blocked on.
    var promptJobs = 0
    private(set) var isHeldBack = false

    mutating func add(_ bytes: Int, isPrompt: Bool) {
        total += bytes
        if isPrompt { prompt += bytes }
    }

    mutating func becamePrompt(_ bytes: Int) { prompt += bytes }

    /// True if no new transfer may start. Only prompt bodies count for a prompt job: other bodies may wait for a
    /// delivery that in turn waits for a thread blocked on the prompt job.
    /// - Parameter running: the number of running transfers.
    func isFull(forPrompt isPrompt: Bool, running: Int) -> Bool {
        let waiting = isPrompt ? prompt : total
        return waiting > (running < Self.mostRunning || isPrompt ? Self.limit : Self.enough)
    }

    /// Recomputes `isHeldBack`. While a thread may be blocked on a job, only prompt bodies hold transfers back: paused
    /// transfers would keep slots and connections that the awaited job needs.
    /// - Returns: true if `isHeldBack` has changed.
    mutating func update() -> Bool {
        let bytes = promptJobs > 0 ? prompt : total
        let isFarBehind = bytes > (isHeldBack ? Self.limit : Self.most)
        defer { isHeldBack = isFarBehind }
        return isFarBehind != isHeldBack
    }
}
