/// Limits how long the loop sleeps after bytes have come over HTTP/2. When a server has violated HTTP/2, libcurl 8.1
/// and later send a GOAWAY and report nothing before they are called again; and because nothing more comes, nothing
/// would wake the loop. So the loop calls libcurl again soon after the last event, and a few times more, because that
/// call may itself read bytes. It has no clock of its own, and looks at no transfer. No version up to 8.21.0 ends this
/// reason. The same sleeps give requests that libcurl may have forgotten a turn: `WaitingRequests`.
struct SecondLooks {
    /// The lengths in milliseconds of the first sleeps that no event ends.
    static let sleeps: [Int64] = [20, 200, 1000]

    private let isNeeded: Bool
    /// Number of sleeps that lasted to their end since the last event.
    private var count = 0

    init(isNeeded: Bool = CurlFeatures.reportsBrokenConnectionsLate) { self.isNeeded = isNeeded }

    /// Returns the longest sleep in milliseconds.
    /// - Parameters:
    ///   - hasHTTP2: Whether a transfer has a connection that may speak HTTP/2.
    ///   - hasWaiting: Whether libcurl may have forgotten a request.
    func longestSleep(hasHTTP2: Bool, hasWaiting: Bool) -> Int64 {
        (isNeeded && hasHTTP2 || hasWaiting) && count < Self.sleeps.count ? Self.sleeps[count] : Int64(Int32.max)
    }

    /// Records that there is something to do: a command, or a sleep that ended early.
    mutating func somethingCame() { count = 0 }

    /// Records that a sleep has lasted to its end.
    mutating func nothingCame() { count = min(count + 1, Self.sleeps.count) }
}
