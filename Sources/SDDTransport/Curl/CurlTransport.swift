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

    package func join() {
        for thread in threads { thread.join() }
    }

    package func join(milliseconds: Int64) {
        for thread in threads { thread.join(milliseconds: milliseconds) }
    }

    /// The version of the loaded libcurl, such as "7.88.1".
    package static func curlVersion() -> String { CurlFeatures.version }

    /// Initializes libcurl, which takes a moment and must be done only once.
    /// - Parameter memory: used by libcurl if nobody has initialized it before.
    package static func prepareLibrary(memory: CurlMemory? = nil) {
        if let memory { givenMemory.withLock { $0 = memory } }
        _ = isLibraryReady
    }

    private static let givenMemory = Monitor<CurlMemory?>(nil)

    /// Whether libcurl is initialized. Done once per process and never undone, because the application may use libcurl
    /// too.
    private static let isLibraryReady: Bool = {
        let flags = Int(CURL_GLOBAL_DEFAULT)
        guard let memory = givenMemory.withLock({ $0 }) else { return curl_global_init(flags) == CURLE_OK }
        return curl_global_init_mem(
            flags, memory.malloc, memory.free, memory.realloc, memory.strdup, memory.calloc) == CURLE_OK
    }()
}

/// Functions for libcurl in place of malloc() and so on, with the same meaning.
package struct CurlMemory: Sendable {
    package typealias Block = UnsafeMutableRawPointer

    let malloc: @convention(c) (Int) -> Block?
    let free: @convention(c) (Block?) -> Void
    let realloc: @convention(c) (Block?, Int) -> Block?
    let strdup: @convention(c) (UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>?
    let calloc: @convention(c) (Int, Int) -> Block?

    package init(
        malloc: @escaping @convention(c) (Int) -> Block?, free: @escaping @convention(c) (Block?) -> Void,
        realloc: @escaping @convention(c) (Block?, Int) -> Block?,
        strdup: @escaping @convention(c) (UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>?,
        calloc: @escaping @convention(c) (Int, Int) -> Block?
    ) {
        (self.malloc, self.free, self.realloc, self.strdup, self.calloc) = (malloc, free, realloc, strdup, calloc)
    }
}

extension TransportError {
    static var noMemoryForCurl: TransportError {
        TransportError(.noResources, systemError: ENOMEM, message: "libcurl could not be started: there is no memory.")
    }
}
