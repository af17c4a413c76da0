internal import CCurl
internal import Glibc
package import SDDBase
internal import Synchronization

/// The transport over libcurl: starts the loop's thread, wakes it, ends it. All that moves bytes is in
/// `CurlLoop`. Any thread.
package final class CurlTransport: Transport {
    private enum Stage {
        case new
        case running(LoopLine, NativeThread)
        case ended
    }

    private let configuration: TransportConfiguration
    private let time: any TimeSource
    private let stage = Mutex(Stage.new)

    package init(configuration: TransportConfiguration, time: any TimeSource = SystemTime()) {
        self.configuration = configuration
        self.time = time
    }

    package func start(delegate: any TransportDelegate) throws(TransportError) {
        guard Self.isLibraryReady, let raw = curl_multi_init() else {
            throw TransportError(
                .noResources, systemError: ENOMEM, message: "libcurl could not be started: there is no memory.")
        }
        let multi = LoopLine.Multi(raw: raw)
        let line = LoopLine(multi)
        let thread: NativeThread
        do throws(SystemError) {
            thread = try NativeThread(name: "sdd-net") { [configuration, time] in
                CurlLoop(multi: multi, line: line, configuration: configuration, delegate: delegate, time: time).run()
            }
        } catch {
            curl_multi_cleanup(raw)
            throw TransportError(
                .noResources, systemError: error.errno, message: "The system gave no thread for the network.")
        }
        stage.withLock { $0 = .running(line, thread) }
    }

    package func wake() { line?.wake() }

    package func stop() { line?.stop() }

    package func join() {
        let thread: NativeThread? = stage.withLock { stage in
            guard case .running(_, let thread) = stage else { return nil }
            stage = .ended
            return thread
        }
        thread?.join()
    }

    private var line: LoopLine? {
        stage.withLock { stage in
            if case .running(let line, _) = stage { line } else { nil }
        }
    }

    /// The version of the libcurl that is loaded: "7.88.1".
    package static func curlVersion() -> String {
        // Safety: libcurl's own static record; each field is there since version 7.10.
        guard let information = curl_version_info(CURLVERSION_NOW), let version = information.pointee.version
        else { return "0" }
        return String(cString: version)
    }

    /// Done once in a process and never undone: the host may be using libcurl too.
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
