import SDDBase
package import SDDTransport

extension Downloader {
    /// Warns about unfinished requests when the process exits.
    package func sayWhatIsLeft() {
        let count = delivery.owed
        if count <= 0 { return }
        StandardErrorLog.write(
            .warning,
            "The process exits with \(count) \(count == 1 ? "request" : "requests") still under way: "
                + "sdd_downloader_idle_wait() waits.")
    }
}

extension Downloader: CacheUser {
    package func log(_ level: LogLevel, _ text: String) -> Bool {
        guard delivery.hasLogObserver else { return false }
        delivery.say(level, text, token: 0, at: SystemTime().monotonicMicroseconds())
        return true
    }
}
