import SDDBase
import SDDCaches
package import SDDTransport

/// A downloader that uses a cache.
package protocol CacheUser: AnyObject, Sendable {
    /// Writes a message to the application's log.
    /// - Returns: false if the application has none here.
    func log(_ level: LogLevel, _ text: String) -> Bool
}

/// The downloaders that use a cache, which tell of its failures. Thread-safe. Not a part of the cache: a weak reference to
/// that, which its counters would need, makes all counting of its references slower.
final class CacheUsers: Sendable {
    private struct User {
        weak var downloader: (any CacheUser)?
    }

    private let all = Monitor<[User]>([])
    private let directory: String?

    init(directory: String?) { self.directory = directory }

    /// - Returns: The number of users.
    func add(_ downloader: any CacheUser) -> Int {
        all.withLock { users in
            users.removeAll { $0.downloader == nil }
            if !users.contains(where: { $0.downloader === downloader }) { users.append(User(downloader: downloader)) }
            return users.count
        }
    }

    /// Writes a failure to the logs of the downloaders; if none of them has one, to standard error as the environment
    /// asks for.
    func tell(_ error: CacheError, count: Int64) {
        let text = DownloadError(error).told(in: directory, count: count)
        let users = all.withLock { $0.compactMap(\.downloader) }
        let listeners = users.filter { $0.log(.error, text) }
        if listeners.isEmpty { StandardErrorLog.write(.error, text) }
    }
}
