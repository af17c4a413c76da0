import SDDBase
import Synchronization

/// The host's side of one accepted request: where its events go. Implemented by the façade. Thread: where
/// the downloader delivers, one call at a time for one request, with no lock held.
package protocol Receiver: AnyObject, Sendable {
    func progressed(token: UInt64, received: Int64, expected: Int64)
    func completed(_ result: DownloadResult, token: UInt64)
    /// Always the last call, after `completed` or after the host has taken the event: the host's data may go.
    func released()
}

/// One accepted request on its way through a downloader: its token, its receiver, and the progress that
/// waits for it.
package final class Subscriber: @unchecked Sendable {
    package let token: UInt64
    package let receiver: any Receiver

    // Safety: read and written only by `Delivery`, under its lock.
    var progress = PendingProgress()

    init(token: UInt64, receiver: any Receiver) {
        self.token = token
        self.receiver = receiver
    }

    /// Ids are unique in the process, so that a token given to the wrong downloader is just unknown there.
    static func nextToken() -> UInt64 {
        lastToken.wrappingAdd(1, ordering: .relaxed).newValue
    }

    private static let lastToken = Atomic<UInt64>(0)
}

/// Progress that waits to be delivered, row C2: (0, -1) at the start and (0, N) at the response are each
/// delivered, of the counts after them the newest. A value.
struct PendingProgress {
    private var start = false
    private var response: Int64?
    private var latest: (received: Int64, expected: Int64)?
    private var hasStarted = false
    private(set) var hasEnded = false

    /// Merges one more report in. Returns whether an entry must be queued for it.
    mutating func add(received: Int64, expected: Int64) -> Bool {
        if hasEnded { return false }
        let wasEmpty = isEmpty
        if received > 0 {
            latest = (received, expected)
        } else if hasStarted {
            response = expected
        } else {
            hasStarted = true
            start = true
        }
        return wasEmpty
    }

    /// Nothing may be delivered any more: the terminal event is queued.
    mutating func end(keepingPending: Bool) {
        hasEnded = true
        if !keepingPending {
            start = false
            response = nil
            latest = nil
        }
    }

    /// The next report to deliver, oldest first; nil when there is none.
    mutating func take() -> (received: Int64, expected: Int64)? {
        if start {
            start = false
            return (0, -1)
        }
        if let expected = response {
            response = nil
            return (0, expected)
        }
        defer { latest = nil }
        return latest
    }

    var isEmpty: Bool { !start && response == nil && latest == nil }
}
