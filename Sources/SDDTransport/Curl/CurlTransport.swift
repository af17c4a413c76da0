internal import CCurl
internal import Glibc
package import SDDBase

/// The transport over libcurl: its network threads, and the cookies that they share. All transfers happen in `CurlLoop`.
/// Any thread.
package final class CurlTransport: Transport {
    private let configuration: TransportConfiguration
    private let threads: [CurlThread]
    private let jar = Monitor<CookieJar?>(nil)

    package init(configuration: TransportConfiguration, time: any TimeSource = SystemTime()) {
        self.configuration = configuration
        threads = (0..<configuration.threadCount).map { CurlThread(number: $0, time: time) }
    }

    /// - Throws: Also `.badConfiguration` and `.unsupported`, before anything has started.
    package func start(delegate: any TransportDelegate) throws(TransportError) {
        guard Self.isLibraryReady else { throw .noMemoryForCurl }
        try ConfigurationCheck.check(configuration)
        let cookies = try CookieJar(file: configuration.cookieFile, users: threads.count)
        let options = try CurlOptions(configuration, cookies: cookies)
        try Self.rehearse(options)
        jar.withLock { $0 = cookies }
        for thread in threads {
            do throws(TransportError) { try thread.start(options, delegate) } catch {
                stop()
                join()
                throw error
            }
        }
    }

    /// Sets the common options on a handle, to get libcurl's errors early.
    private static func rehearse(_ options: CurlOptions) throws(TransportError) {
        guard let easy = EasyHandle() else { throw .noMemoryForCurl }
        do throws(EasyHandle.Refusal) { try options.rehearse(easy) } catch {
            throw .badConfiguration(error)
        }
    }

    package var cookies: CookieJar? { jar.withLock { $0 } }

    package func wake(_ which: NetworkThreads) {
        for number in 0..<threads.count where which.contains(NetworkThreads(number: number)) { threads[number].wake() }
    }

    package func stop() {
        for thread in threads { thread.stop() }
    }

    package var isOwnThread: Bool { threads.contains { $0.isCurrent } }

    package func join() {
        for thread in threads { thread.join() }
    }

    package func join(milliseconds: Int64) {
        for thread in threads { thread.join(milliseconds: milliseconds) }
    }

    /// The version of the loaded libcurl, such as "7.88.1".
    package static func curlVersion() -> String { CurlFeatures.version }

    /// Initializes libcurl, which takes a moment and must be done only once.
    package static func prepareLibrary() { _ = isLibraryReady }

    /// Whether libcurl is initialized. Done once per process and never undone, because the application may use libcurl
    /// too. If nobody has initialized it before, it uses the functions that stand in place of malloc() in the library
    /// (`Sources/CHeap/heap.c`). All blocks are malloc()'s: an application may free what libcurl has made as before.
    private static let isLibraryReady =
        curl_global_init_mem(
            Int(CURL_GLOBAL_DEFAULT), malloc, free, realloc, { $0.flatMap { strdup($0) } }, calloc) == CURLE_OK
}

extension TransportError {
    static var noMemoryForCurl: TransportError {
        TransportError(.noResources, systemError: ENOMEM, message: "libcurl could not be started: there is no memory.")
    }
}
