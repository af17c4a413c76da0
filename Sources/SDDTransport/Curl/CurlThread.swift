internal import CCurl
internal import Glibc
internal import SDDBase

/// One network thread with its loop, and the thread that watches it: starts, wakes and ends them. Any thread.
final class CurlThread: Sendable {
    private let which: NetworkThreads
    private let time: any TimeSource
    private let line = Monitor<LoopLine?>(nil)
    /// Taken out by who joins it, because that is possible only once.
    private let thread = Monitor<NativeThread?>(nil)
    private let watch: TurnWatch

    init(number: Int, time: any TimeSource) {
        which = NetworkThreads(number: number)
        self.time = time
        watch = TurnWatch(time: time)
    }

    func start(_ options: CurlOptions, _ delegate: any TransportDelegate) throws(TransportError) {
        guard let raw = curl_multi_init() else { throw .noMemoryForCurl }
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
        try watch.start()
        do throws(SystemError) {
            let thread = try NativeThread(name: "sdd-net") { [which, time, watch] in
                CurlLoop(
                    which, multi: multi, line: line, options: options, delegate: delegate, watch: watch, time: time
                ).run()
                watch.end()
            }
            self.thread.withLock { $0 = thread }
        } catch {
            watch.end()
            watch.join()
            throw error
        }
    }

    func wake() {
        let line = line.withLock { $0 }
        line?.wake()
    }

    func stop() {
        let line = line.withLock { $0 }
        line?.stop()
        watch.stop()
    }

    var isCurrent: Bool { thread.withLock { $0?.isCurrent ?? false } }

    func join() {
        thread.withLock { $0.take() }?.join()
        watch.join()
    }

    /// Joins the threads at the end of the process. If that ends on sdd-net itself, in a function of the application,
    /// the loop turns no more.
    func join(milliseconds: Int64) {
        let thread = thread.withLock { $0.take() }
        if let thread, thread.isCurrent {
            thread.detach()
            watch.end()
        } else {
            thread?.join(milliseconds: milliseconds)
        }
        // The watch ends together with the loop, or not at all.
        watch.join(milliseconds: milliseconds)
    }
}
