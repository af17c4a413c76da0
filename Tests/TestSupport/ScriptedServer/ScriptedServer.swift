import Glibc
package import SDDBase

/// The state that all connections share.
struct Site: Sendable {
    let fileRoot: String?
    let gates = Gates()
    let scripts = Scripts()
    let log: RequestLog
}

/// An HTTP/1.1 server on 127.0.0.1 for tests. It does what the URL of each request says (see
/// Tests/FaultServer/README.md), and counts and records requests. One thread accepts connections, one more serves each
/// of them. Every method is callable from any thread.
package final class ScriptedServer: Sendable {
    /// The limit for everything that waits here; long, since it ends only tests that fail.
    package static let waitLimit: Int64 = 30_000

    package let port: UInt16
    let site: Site
    private let connections: Connections
    private let listener: Int32
    private let acceptor: NativeThread

    /// - Parameters:
    ///   - fileRoot: The directory whose files `/file/NAME` and `file=NAME` serve.
    ///   - port: 0 takes a free one.
    ///   - keepsRequests: False for long runs, which only count their requests.
    package init(fileRoot: String? = nil, port: UInt16 = 0, keepsRequests: Bool = true) throws(SystemError) {
        let (listener, boundPort) = try listenOnLoopback(port: port)
        let site = Site(fileRoot: fileRoot, log: RequestLog(keepsRequests: keepsRequests))
        let connections = Connections(site: site)
        do throws(SystemError) {
            acceptor = try NativeThread(name: "server-accept") { connections.accept(from: listener) }
        } catch {
            close(listener)
            throw error
        }
        self.listener = listener
        self.port = boundPort
        self.site = site
        self.connections = connections
    }

    deinit { stop() }

    /// Returns an absolute URL of this server.
    package func url(_ target: String) -> String { "http://127.0.0.1:\(port)\(target)" }

    /// Returns the bytes that a reply with `size=` has, for a request with this target.
    package static func body(of target: String, size: Int) -> [UInt8] {
        ReplyBody(seed: ReplyBody.seed(of: target), count: size).bytes
    }

    /// Releases requests that wait now or later in `/hold/NAME` (or at `NAME.K` of `/steps/NAME`); `*` releases all.
    package func release(_ name: String) { site.gates.open(name) }

    // MARK: What it has seen

    /// The requests received, in the order of arrival.
    package var requests: [ServerRequest] { site.log.recorded }
    package var statistics: ServerStatistics { site.log.statistics }
    package var connectionCount: Int { statistics.connections }
    package var peakConcurrent: Int { statistics.peak }

    /// Returns how often a path ("/ok", with any query) or a target ("/ok?size=3", exactly that one) was requested.
    package func count(_ target: String) -> Int { site.log.count(target) }

    /// Waits until a path or target has been requested that often. Returns false if the limit ran out first.
    package func waitForRequests(_ target: String, count: Int = 1) -> Bool {
        site.log.wait(milliseconds: Self.waitLimit, target: target, count: count)
    }

    /// Waits until the statistics meet a condition, such as `{ $0.active == 0 }`.
    package func wait(until condition: (ServerStatistics) -> Bool) -> Bool {
        site.log.wait(milliseconds: Self.waitLimit, until: condition)
    }

    /// Starts counting anew, and closes the gates that were opened.
    package func reset() {
        site.log.reset()
        site.gates.closeAll()
    }

    /// Closes the listener and every connection, and returns when all threads have ended. May be called more than once.
    package func stop() {
        guard connections.beginStop() else { return }
        site.log.stop()
        // On Linux this makes `accept` return, which closing would not do.
        shutdown(listener, Int32(SHUT_RDWR))
        acceptor.join()
        close(listener)
        connections.closeAll()
    }
}

private func listenOnLoopback(port: UInt16) throws(SystemError) -> (descriptor: Int32, port: UInt16) {
    let bound = try bindLoopback(port: port)
    guard listen(bound.descriptor, SOMAXCONN) == 0 else {
        let error = SystemError(errno: errno)
        close(bound.descriptor)
        throw error
    }
    return bound
}
