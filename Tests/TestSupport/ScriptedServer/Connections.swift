import Glibc
import SDDBase

/// The connections of a scripted server and their threads. `accept` runs on the accepting thread, `serve` on one thread
/// per connection.
final class Connections: Sendable {
    private struct State {
        var isStopping = false
        var latest = 0
        var descriptors: [Int: Int32] = [:]
        var threads: [Int: NativeThread] = [:]
        /// Threads about to end, to be joined by the accepting thread or by `closeAll`.
        var finished: [Int] = []
    }

    private let site: Site
    private let state = Monitor(State())

    init(site: Site) { self.site = site }

    // MARK: Accepting

    func accept(from listener: Int32) {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            let code = errno
            joinFinished()
            if descriptor >= 0 {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                start(descriptor)
            } else if isStopping {
                return
            } else if code == EMFILE || code == ENFILE {
                waitForDescriptor()
            }
        }
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Waits when the process is out of descriptors: the next connection that ends frees one, or another part of the
    /// process does.
    private func waitForDescriptor() {
        _ = state.wait(milliseconds: 100) { $0.isStopping || !$0.finished.isEmpty ? true : nil }
    }

    private func start(_ descriptor: Int32) {
        let number = state.withLock { state in
            state.latest += 1
            state.descriptors[state.latest] = descriptor
            return state.latest
        }
        site.log.connectionOpened()
        do throws(SystemError) {
            let thread = try NativeThread(name: "server-\(number)") { self.serve(descriptor, number) }
            state.withLock { $0.threads[number] = thread }
        } catch {
            end(descriptor, number)
        }
    }

    private func joinFinished() {
        let threads = state.withLock { state in
            let threads = state.finished.compactMap { state.threads.removeValue(forKey: $0) }
            state.finished = []
            return threads
        }
        for thread in threads { thread.join() }
    }

    // MARK: Stopping

    /// Begins to stop the server. Returns whether this call is the first.
    func beginStop() -> Bool {
        let isFirst = state.withLock { state in
            defer { state.isStopping = true }
            return !state.isStopping
        }
        state.broadcast()
        return isFirst
    }

    /// Ends every connection and joins its thread. Called once the server accepts no more connections.
    func closeAll() {
        let threads = state.withLock { state in
            // This needs the lock, under which `end` removes a descriptor before it closes it.
            for descriptor in state.descriptors.values { shutdown(descriptor, Int32(SHUT_RDWR)) }
            defer { state.threads = [:] }
            return state.threads.values
        }
        for thread in threads { thread.join() }
    }

    // MARK: Serving

    private func serve(_ descriptor: Int32, _ number: Int) {
        let socket = ServerSocket(descriptor: descriptor)
        var isFirst = true
        while let request = socket.readRequest(connection: number) {
            let isControl = Replies.control[Replies.word(of: request.path)] != nil
            if isFirst && isControl { site.log.connectionIsForControl() }
            isFirst = false
            let exchange = Exchange(request, on: socket, site: site)
            if !isControl { site.log.began(request) }
            let keepsAlive = answer(exchange)
            if !isControl { site.log.ended() }
            if !keepsAlive { break }
        }
        end(descriptor, number)
    }

    private func answer(_ exchange: Exchange) -> Bool {
        do throws(ReplyEnd) {
            try Replies.run(exchange)
            return exchange.keepsAlive
        } catch {
            guard case .misspelt(let reason) = error else { return false }
            exchange.keepsAlive = false
            let head = "HTTP/1.1 400 Bad Request\r\nContent-Length: \(reason.utf8.count)\r\nConnection: close\r\n\r\n"
            try? exchange.socket.send(head + reason)
            return false
        }
    }

    private func end(_ descriptor: Int32, _ number: Int) {
        state.withLock { _ = $0.descriptors.removeValue(forKey: number) }
        close(descriptor)
        site.log.connectionClosed()
        state.withLock { $0.finished.append(number) }
        state.broadcast()
    }
}
