internal import CCurl
internal import Glibc
package import SDDBase

/// The transport over libcurl: starts the loop's thread, wakes it, ends it. All that moves bytes is in
/// `CurlLoop`. Any thread.
package final class CurlTransport: Transport {
    private let configuration: TransportConfiguration
    private let time: any TimeSource
    private let line = Monitor<LoopLine?>(nil)
    private let thread = Monitor<NativeThread?>(nil)

    package init(configuration: TransportConfiguration, time: any TimeSource = SystemTime()) {
        self.configuration = configuration
        self.time = time
    }

    package func start(delegate: any TransportDelegate) throws(TransportError) {
        guard Self.isLibraryReady, let raw = curl_multi_init() else {
            throw TransportError(
                .noResources, systemError: ENOMEM, message: "libcurl could not be started: there is no memory.")
        }
        // Without descriptors for its wake-up libcurl goes on, and the loop would sleep through every command.
        guard curl_multi_wakeup(raw) == CURLM_OK else {
            curl_multi_cleanup(raw)
            throw TransportError(
                .noResources, systemError: EMFILE, message: "The system gave no descriptors for the network.")
        }
        let multi = LoopLine.Multi(raw: raw)
        let line = LoopLine(multi)
        // Before the thread is there: its first turn may already bring a wake.
        self.line.withLock { $0 = line }
        do throws(SystemError) {
            let thread = try NativeThread(name: "sdd-net") { [configuration, time] in
                let options = CurlOptions(configuration)
                CurlLoop(multi: multi, line: line, options: options, delegate: delegate, time: time).run()
            }
            self.thread.withLock { $0 = thread }
        } catch {
            line.close()
            curl_multi_cleanup(raw)
            throw TransportError(
                .noResources, systemError: error.errno, message: "The system gave no thread for the network.")
        }
    }

    package func wake() {
        let line = line.withLock { $0 }
        line?.wake()
    }

    package func stop() {
        let line = line.withLock { $0 }
        line?.stop()
    }

    package func join() { takeThread()?.join() }

    package func join(milliseconds: Int64) { takeThread()?.join(milliseconds: milliseconds) }

    /// Only one can join it.
    private func takeThread() -> NativeThread? {
        thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
    }

    /// The version of the libcurl that is loaded: "7.88.1".
    package static func curlVersion() -> String {
        // Safety: libcurl's own static record.
        guard let information = curl_version_info(CURLVERSION_FIRST), let version = information.pointee.version
        else { return "0" }
        return String(cString: version)
    }

    /// Done once in a process and never undone: the host may be using libcurl too.
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
