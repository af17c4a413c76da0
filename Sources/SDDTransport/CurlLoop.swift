internal import CCurl
internal import SDDBase

/// The network thread's loop: takes commands, lets libcurl work, hands events over, sleeps. The only file
/// that calls curl_multi_*, but for the wake-up in `LoopLine`. Owns the multi handle and every transfer.
/// thread: sdd-net
final class CurlLoop {
    private let multi: UnsafeMutableRawPointer
    private let line: LoopLine
    private let options: CurlOptions
    private let delegate: any TransportDelegate
    private let time: any TimeSource

    private var running: [TransferID: CurlTransfer] = [:]
    private var spare: [CurlTransfer] = []
    private var headers: HeaderList?
    private let news = CurlTransfer.News()
    // Both kept for their storage.
    private var commands: [TransportCommand] = []
    private var events: [TransferEvent] = []
    /// No transfer can have been idle for too long before this.
    private var nextLook = Int64.max
    private var cache = ConnectionCache()

    init(
        multi: LoopLine.Multi, line: LoopLine, options: CurlOptions, delegate: any TransportDelegate,
        time: any TimeSource
    ) {
        self.multi = multi.raw
        self.line = line
        self.options = options
        self.delegate = delegate
        self.time = time
        _ = sddc_multi_set_long(self.multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        setCacheSize()
    }

    func run() {
        while line.turnBegins() {
            takeCommands()
            // What the delegate has heard may have made it want more, and that need not wait for a wake.
            repeat { transferData() } while handOver() && takeCommands() && !line.isStopped
            line.sleepUnlessWoken(sleep)
        }
        close()
    }

    private func close() {
        for transfer in running.values { _ = curl_multi_remove_handle(multi, transfer.easy.raw) }
        running = [:]
        spare = []
        news.transfers = []
        line.close()
        curl_multi_cleanup(multi)
    }
}

// MARK: - Commands

extension CurlLoop {
    /// - Returns: whether there were any.
    @discardableResult
    private func takeCommands() -> Bool {
        delegate.takeCommands(into: &commands)
        guard !commands.isEmpty else { return false }
        let now = time.monotonicMicroseconds()
        for command in commands {
            switch command {
            case .start(let id, let request): start(id, request, at: now)
            case .cancel(let id): cancel(id)
            }
        }
        commands.removeAll(keepingCapacity: true)
        return true
    }

    private func start(_ id: TransferID, _ request: HTTPRequest, at now: Int64) {
        guard let transfer = spare.popLast() ?? CurlTransfer(options: options, news: news),
            let headers = list(for: request.headers)
        else {
            return refuse(id, .notStarted(CURLE_OUT_OF_MEMORY))
        }
        do throws(TransportError) {
            try transfer.begin(id, request, headers: headers, at: now)
        } catch {
            return refuse(id, error)
        }
        guard curl_multi_add_handle(multi, transfer.easy.raw) == CURLM_OK else {
            return refuse(id, .notStarted(CURLE_FAILED_INIT))
        }
        running[id] = transfer
        nextLook = min(nextLook, transfer.nextLook(at: now) ?? now)
        if cache.sees(transfers: running.count) { setCacheSize() }
    }

    private func refuse(_ id: TransferID, _ error: TransportError) {
        events.append(
            .finished(id, TransferEnd(result: .failure(error), status: 0, timings: TransferTimings())))
    }

    private func list(for fields: HTTPFields) -> HeaderList? {
        if let headers, headers.serves(fields) { return headers }
        headers = HeaderList(fields)
        return headers
    }

    private func cancel(_ id: TransferID) {
        guard let transfer = running.removeValue(forKey: id) else { return }
        letGo(of: transfer, keep: true)
    }

    private func setCacheSize() { _ = sddc_multi_set_long(multi, CURLMOPT_MAXCONNECTS, cache.size) }
}

// MARK: - One turn

extension CurlLoop {
    private func transferData() {
        guard !running.isEmpty else { return }
        var count: Int32 = 0
        guard curl_multi_perform(multi, &count) == CURLM_OK else { return abandonAll() }
        let now = time.monotonicMicroseconds()
        takeNews(at: now)
        reap()
        if now >= nextLook { lookForSilence(at: now) }
    }

    private func takeNews(at now: Int64) {
        for transfer in news.transfers { transfer.takeNews(at: now, into: &events) }
        news.transfers.removeAll(keepingCapacity: true)
    }

    private func reap() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            // Safety: the record is good until the handle is removed, which is what `finish` does.
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let transfer = CurlTransfer.owner(of: EasyHandle(raw: easy))
            else { continue }
            finish(transfer, transfer.end(message.pointee.data.result))
        }
    }

    private func finish(_ transfer: CurlTransfer, _ end: TransferEnd) {
        running[transfer.id] = nil
        transfer.takeEnd(end, into: &events)
        // A handle that failed may remember it (libcurl keeps the last errno): the next begins afresh.
        if case .success = end.result { letGo(of: transfer, keep: true) } else { letGo(of: transfer, keep: false) }
    }

    private func letGo(of transfer: CurlTransfer, keep: Bool) {
        _ = curl_multi_remove_handle(multi, transfer.easy.raw)
        if running.isEmpty { nextLook = .max }
        if keep, spare.count < cache.size, transfer.recycle() { spare.append(transfer) }
    }

    private func lookForSilence(at now: Int64) {
        nextLook = .max
        for transfer in running.values {
            if let look = transfer.nextLook(at: now) {
                nextLook = min(nextLook, look)
            } else {
                finish(transfer, transfer.endOfPatience())
            }
        }
    }

    /// libcurl itself has failed, which only a lack of memory makes it do: better ends than a loop that spins.
    private func abandonAll() {
        for transfer in running.values { finish(transfer, transfer.end(CURLE_OUT_OF_MEMORY)) }
    }

    /// - Returns: whether there was anything.
    private func handOver() -> Bool {
        guard !events.isEmpty else { return false }
        delegate.handle(events)
        events.removeAll(keepingCapacity: true)
        return true
    }

    private func sleep() {
        // Rounded up, for a poll that ends too early would be followed by others of 0 ms.
        let longest = Int64(Int32.max)
        let wait = nextLook == .max ? longest : (nextLook - time.monotonicMicroseconds()) / 1000 + 1
        if curl_multi_poll(multi, nil, 0, Int32(clamping: max(0, min(wait, longest))), nil) != CURLM_OK {
            abandonAll()
            _ = handOver()
        }
    }
}
