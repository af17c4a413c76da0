/// Encoded bytes that wait for a decode thread, or for room. A value; the table's.
struct DecodeBacklog {
    /// So many may wait before no new transfer is started: a network faster than the decoders must not fill the memory,
    /// and a slower one must not leave them without work.
    private static var limit: Int { 8 << 20 }
    /// With so many, transfers that run are paused until there are no more than the limit again.
    private static var most: Int { 64 << 20 }

    private(set) var total = 0
    /// Those of prompt jobs, which are among the total.
    private(set) var prompt = 0
    /// Jobs that somebody may be blocked for.
    var promptJobs = 0
    private(set) var isHeldBack = false

    mutating func add(_ bytes: Int, isPrompt: Bool) {
        total += bytes
        if isPrompt { prompt += bytes }
    }

    mutating func becamePrompt(_ bytes: Int) { prompt += bytes }

    /// Whether no new transfer may start. What others have left waiting may wait for a delivery, and that for a thread
    /// that is blocked for a prompt job: so it does not count for those.
    func isFull(forPrompt isPrompt: Bool) -> Bool { (isPrompt ? prompt : total) > Self.limit }

    /// As long as somebody may be blocked, transfers are held back by prompt bodies alone: paused ones would keep their
    /// places, and connections, from what that somebody waits for.
    /// - Returns: whether `isHeldBack` has changed.
    mutating func update() -> Bool {
        let bytes = promptJobs > 0 ? prompt : total
        let isFarBehind = bytes > (isHeldBack ? Self.limit : Self.most)
        defer { isHeldBack = isFarBehind }
        return isFarBehind != isHeldBack
    }
}
