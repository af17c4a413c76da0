import Glibc
package import SDDBase

/// What every connection shares.
struct Site: Sendable {
    let fileRoot: String?
    let gates = Gates()
    let scripts = Scripts()
    let log: RequestLog
}

/// An HTTP/1.1 server on 127.0.0.1 for tests: it does what the URL of each request says (see
/// Tests/FaultServer/README.md), counts and records. One thread accepts, one serves each connection.
/// Every method may be called on any thread.
package final class ScriptedServer: Sendable {
    /// Of everything that waits here; long, since it ends only tests that fail.
    package static let waitLimit: Int64 = 30_000

    package let port: UInt16
    let site: Site
    private let connections: Connections
    private let listener: Int32
    private let acceptor: NativeThread

    /// - Parameters:
    ///   - fileRoot: The directory whose files `/file/NAME` and `file=NAME` serve.
    ///   - port: 0 takes a free one.
    ///   - keepsRequests: false for long runs: they are counted then, and not kept.
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

    /// An absolute URL of this server.
    package func url(_ target: String) -> String { "http://127.0.0.1:\(port)\(target)" }

    /// The bytes that a reply with `size=` has, for a request with this target.
    package static func body(of target: String, size: Int) -> [UInt8] {
        ReplyBody(seed: ReplyBody.seed(of: target), count: size).bytes
    }

    /// Lets go on what waits, or will wait, in `/hold/NAME` (or at `NAME.K` of `/steps/NAME`); `*` is all.
    package func release(_ name: String) { site.gates.open(name) }

    // MARK: What it has seen

    /// In the order of arrival.
    package var requests: [ServerRequest] { site.log.recorded }
    package var statistics: ServerStatistics { site.log.statistics }
    package var connectionCount: Int { statistics.connections }
    package var peakConcurrent: Int { statistics.peak }

    /// How often a path ("/ok", with any query) or a target ("/ok?size=3", exactly that one) was requested.
    package func count(_ target: String) -> Int { site.log.count(target) }

    /// Waits until a path or target has been requested that often; false when the limit was over first.
    package func waitForRequests(_ target: String, count: Int = 1) -> Bool {
        site.log.wait(milliseconds: Self.waitLimit, target: target, count: count)
    }

    /// Waits until what was seen meets a condition: `{ $0.active == 0 }`, say.
    package func wait(until condition: (ServerStatistics) -> Bool) -> Bool {
        site.log.wait(milliseconds: Self.waitLimit, until: condition)
    }

    /// Begins to count afresh, and closes the gates that were opened.
    package func reset() {
        site.log.reset()
        site.gates.closeAll()
    }

    /// Closes the listener and every connection and returns when all threads have ended. More than once is fine.
    package func stop() {
        guard connections.beginStop() else { return }
        site.log.stop()
        // On Linux this makes `accept` return, which closing would not.
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
