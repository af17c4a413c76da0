internal import CCurl
internal import Glibc
package import SDDBase

/// The transport over libcurl: starts, wakes and ends the loop's thread. All transfers happen in `CurlLoop`. Any
/// thread.
package final class CurlTransport: Transport {
    private let configuration: TransportConfiguration
    private let time: any TimeSource
    private let line = Monitor<LoopLine?>(nil)
    private let thread = Monitor<NativeThread?>(nil)
    private let watch: TurnWatch
    private let watchThread = Monitor<NativeThread?>(nil)
    private let jar = Monitor<CookieJar?>(nil)

    package init(configuration: TransportConfiguration, time: any TimeSource = SystemTime()) {
        self.configuration = configuration
        self.time = time
        watch = TurnWatch(time: time)
    }

    /// - Throws: Also `.badConfiguration` and `.unsupported`, before anything has started.
    package func start(delegate: any TransportDelegate) throws(TransportError) {
        guard Self.isLibraryReady else { throw Self.noMemory }
        try ConfigurationCheck.check(configuration)
        let cookies = try CookieJar(file: configuration.cookieFile)
        let options = try CurlOptions(configuration, cookies: cookies)
        try Self.rehearse(options)
        jar.withLock { $0 = cookies }
        try startLoop(options, delegate)
    }

    private func startLoop(_ options: CurlOptions, _ delegate: any TransportDelegate) throws(TransportError) {
        guard let raw = curl_multi_init() else { throw Self.noMemory }
        // libcurl continues without descriptors for its wake-up, but the loop would then sleep through every command.
        guard curl_multi_wakeup(raw) == CURLM_OK else {
            curl_multi_cleanup(raw)
            throw TransportError(
                .noResources, systemError: EMFILE, message: "The system gave no descriptors for the network.")
        }
        let multi = LoopLine.Multi(raw: raw)
        let line = LoopLine(multi)
        // Set before the thread exists, because its first turn may already bring a wake-up.
        self.line.withLock { $0 = line }
        do throws(SystemError) {
            try startThreads(multi, line, options, delegate)
        } catch {
            line.close()
            curl_multi_cleanup(raw)
            throw TransportError(
                .noResources, systemError: error.errno, message: "The system gave no thread for the network.")
        }
    }

    private func startThreads(
        _ multi: LoopLine.Multi, _ line: LoopLine, _ options: CurlOptions, _ delegate: any TransportDelegate
    ) throws(SystemError) {
        let watching = try NativeThread(name: "sdd-watch") { [watch] in watch.run() }
        do throws(SystemError) {
            let thread = try NativeThread(name: "sdd-net") { [time, watch] in
                CurlLoop(multi: multi, line: line, options: options, delegate: delegate, watch: watch, time: time).run()
                watch.end()
            }
            self.thread.withLock { $0 = thread }
        } catch {
            watch.end()
            watching.join()
            throw error
        }
        watchThread.withLock { $0 = watching }
    }

    /// Sets the common options on a handle, to get libcurl's errors early.
    private static func rehearse(_ options: CurlOptions) throws(TransportError) {
        guard let easy = EasyHandle() else { throw noMemory }
        do throws(EasyHandle.Refusal) { try options.rehearse(easy) } catch {
            throw .badConfiguration(error)
        }
    }

    package var cookies: CookieJar? { jar.withLock { $0 } }

    package func wake() {
        let line = line.withLock { $0 }
        line?.wake()
    }

    package func stop() {
        let line = line.withLock { $0 }
        line?.stop()
        watch.stop()
    }

    package func join() {
        take(thread)?.join()
        take(watchThread)?.join()
    }

    package func join(milliseconds: Int64) {
        take(thread)?.join(milliseconds: milliseconds)
        // The watch ends together with the loop, or not at all.
        take(watchThread)?.join(milliseconds: milliseconds)
    }

    /// Takes the thread out of the monitor, because it can be joined only once.
    private func take(_ thread: Monitor<NativeThread?>) -> NativeThread? {
        thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
    }

    /// The version of the loaded libcurl, such as "7.88.1".
    package static func curlVersion() -> String { CurlFeatures.version }

    private static let noMemory = TransportError(
        .noResources, systemError: ENOMEM, message: "libcurl could not be started: there is no memory.")

    /// Initializes libcurl, which takes a moment and must be done only once.
    package static func prepareLibrary() { _ = isLibraryReady }

    /// Whether libcurl is initialized. Done once per process and never undone, because the application may use libcurl
    /// too.
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
